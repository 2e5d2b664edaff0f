"""The formulas of measures in TeX, by the text with which a definition starts."""

import re

FORMULAS = {
    "CG@k = Σ_{i=1..k} g_i": r"\mathrm{CG}@k = \sum_{i=1}^{k} g_i",
    "DCG@k = Σ_{i=1..k} g_i · d_i": r"\mathrm{DCG}@k = \sum_{i=1}^{k} g_i \cdot d_i",
    "nDCG@k = DCG@k / IDCG@k": r"\mathrm{nDCG}@k = \frac{\mathrm{DCG}@k}{\mathrm{IDCG}@k}",
    "G = Σ_i g_i / log2(2 + c_i − s_i) / Σ_j ideal_j": (
        r"\mathrm{G} = \frac{\sum_i g_i / \log_2(2 + c_i - s_i)}{\sum_j \mathrm{ideal}_j}"
    ),
    "binG = (1/R) Σ 1/log2(2 + n)": r"\mathrm{binG} = \frac{1}{R} \sum \frac{1}{\log_2(2 + n)}",
    "SDCG@k = Σ_{i=1..k} w_i·d_i / Σ_{i=1..k} d_i": (
        r"\mathrm{SDCG}@k = \frac{\sum_{i=1}^{k} w_i \cdot d_i}{\sum_{i=1}^{k} d_i}"
    ),
    "ETG = Σ w_i·v_i": r"\mathrm{ETG} = \sum_i w_i \cdot v_i",
    "ED = Σ v_i = 1 / W(1)": r"\mathrm{ED} = \sum_i v_i = \frac{1}{W(1)}",
    "grid_DCG@k = Σ_{i=1..k} g_i·r_i·c_i": (
        r"\mathrm{grid\_DCG}@k = \sum_{i=1}^{k} g_i \cdot r_i \cdot c_i"
    ),
    "P@k = the number of relevant documents among the first k, divided by k": (
        r"\mathrm{P}@k = \frac{\text{relevant documents among the first } k}{k}"
    ),
    "R@k = the number of relevant documents among the first k, divided by R": (
        r"\mathrm{R}@k = \frac{\text{relevant documents among the first } k}{R}"
    ),
    "F@k = (1+β²)·P@k·R@k / (β²·P@k + R@k)": (
        r"\mathrm{F}@k = \frac{(1+\beta^2) \cdot \mathrm{P}@k \cdot \mathrm{R}@k}{\beta^2 \cdot \mathrm{P}@k + \mathrm{R}@k}"
    ),
    "SetAP = P · R": r"\mathrm{SetAP} = \mathrm{P} \cdot \mathrm{R}",
    "AP@k = (1/R) Σ P@i": r"\mathrm{AP}@k = \frac{1}{R} \sum_{i \le k} \mathrm{P}@i",
    "bpref = (1/R) Σ (1 − min(n, R)/min(N, R))": (
        r"\mathrm{bpref} = \frac{1}{R} \sum \left(1 - \frac{\min(n, R)}{\min(N, R)}\right)"
    ),
    "infAP = (1/R) Σ (1/i + (b/i)·(r+ε)/(r+n+2ε))": (
        r"\mathrm{infAP} = \frac{1}{R} \sum \left(\frac{1}{i}"
        r" + \frac{b}{i} \cdot \frac{r+\varepsilon}{r+n+2\varepsilon}\right)"
    ),
    "yaap = ln((1+s) / (1+R−s))": r"\mathrm{yaap} = \ln \frac{1+s}{1+R-s}",
    "ERR@k = Σ_{i=1..k} (1/i)·s_i·Π_{j<i} (1 − s_j)": (
        r"\mathrm{ERR}@k = \sum_{i=1}^{k} \frac{s_i}{i} \prod_{j<i} (1 - s_j)"
    ),
    "nERR@k = ERR@k / the ERR@k of all judged documents by descending grade": (
        r"\mathrm{nERR}@k = \frac{\mathrm{ERR}@k}{\mathrm{ERR}@k \text{ of all judged documents by descending grade}}"
    ),
    "RBP@k = (1−p) Σ_{i=1..k} w_i·p^(i−1)": r"\mathrm{RBP}@k = (1-p) \sum_{i=1}^{k} w_i \cdot p^{\,i-1}",
    "RBPres@k = (1−p) Σ p^(i−1)": r"\mathrm{RBPres}@k = (1-p) \sum p^{\,i-1}",
    "Q@k = (1/R) Σ (c_i + β·s_i) / (i + β·t_i)": (
        r"\mathrm{Q}@k = \frac{1}{R} \sum \frac{c_i + \beta \cdot s_i}{i + \beta \cdot t_i}"
    ),
    "GAP = Σ_n (1/n) Σ_{m≤n} min(g_m, g_n) / Σ g": (
        r"\mathrm{GAP} = \frac{\sum_n \frac{1}{n} \sum_{m \le n} \min(g_m, g_n)}{\sum g}"
    ),
    "INST = Σ w_i·W(i)": r"\mathrm{INST} = \sum_i w_i \cdot W(i)",
    "INSQ = Σ w_i·W(i)": r"\mathrm{INSQ} = \sum_i w_i \cdot W(i)",
    "Compat = RBO(list, ideal) / RBO(ideal, ideal)": (
        r"\mathrm{Compat} = \frac{\mathrm{RBO}(\text{list}, \text{ideal})}{\mathrm{RBO}(\text{ideal}, \text{ideal})}"
    ),
    "UnjudgedMass@k = Σ d_i over the ranks i ≤ k of documents without a judgment / Σ d_i over all ranks i ≤ k of the list": (
        r"\mathrm{UnjudgedMass}@k ="
        r" \frac{\sum d_i \text{ over the ranks } i \le k \text{ of documents without a judgment}}"
        r"{\sum d_i \text{ over all ranks } i \le k \text{ of the list}}"
    ),
    "UDCG@k = 1/(1 + exp(−u)), where u = (1/n)·Σ_{i=1..n} w_i·(1 − p_i)": (
        r"\mathrm{UDCG}@k = \frac{1}{1 + e^{-u}},\quad u = \frac{1}{n} \sum_{i=1}^{n} w_i \cdot (1 - p_i)"
    ),
    "session_DCG@k = Σ_m DCG_m@k / (1 + log_bq m)": (
        r"\mathrm{session\_DCG}@k = \sum_m \frac{\mathrm{DCG}_m@k}{1 + \log_{bq} m}"
    ),
    "session_RBP@k = (1−p) Σ_m ((p − b·p)/(1 − b·p))^(m−1) Σ_{i=1..k} w_i·(b·p)^(i−1)": (
        r"\mathrm{session\_RBP}@k = (1-p) \sum_m \left(\frac{p - b p}{1 - b p}\right)^{m-1} \sum_{i=1}^{k} w_i (b p)^{i-1}"
    ),
    "TBG@k = Σ_{i=1..k} g_i·exp(−t_i·ln 2/h)": (
        r"\mathrm{TBG}@k = \sum_{i=1}^{k} g_i \cdot e^{-t_i \ln 2 / h}"
    ),
    "U@k = Σ_{i=1..k} g_i·max(0, 1 − x_i/L)": (
        r"\mathrm{U}@k = \sum_{i=1}^{k} g_i \cdot \max(0, 1 - x_i / L)"
    ),
    "evidence_nDCG@k = Σ_{i=1..k} g_i·d_i / that of the ideal": (
        r"\mathrm{evidence\_nDCG}@k = \frac{\sum_{i=1}^{k} g_i \cdot d_i}{\text{the same sum for the ideal}}"
    ),
    "NuggetRecall@k = Σ_n w_n·s_n / Σ_n w_n": (
        r"\mathrm{NuggetRecall}@k = \frac{\sum_n w_n \cdot s_n}{\sum_n w_n}"
    ),
    "alpha_nDCG@k = Σ_{i=1..k} g_i/log2(i+1) / that of the greedy ideal": (
        r"\alpha\text{-}\mathrm{nDCG}@k = \frac{\sum_{i=1}^{k} g_i / \log_2(i+1)}{\text{the same sum for the greedy ideal}}"
    ),
    "alpha_DCG@k = Σ_{i=1..k} g_i/log2(i+1) / (S·Σ_{i=1..k} (1−α)^(i−1)/log2(i+1))": (
        r"\alpha\text{-}\mathrm{DCG}@k ="
        r" \frac{\sum_{i=1}^{k} g_i / \log_2(i+1)}{S \sum_{i=1}^{k} (1-\alpha)^{i-1} / \log_2(i+1)}"
    ),
    "ERR_IA@k = Σ_{i=1..k} g_i/i / (S·Σ_{i=1..k} (1−α)^(i−1)/i)": (
        r"\mathrm{ERR\text{-}IA}@k ="
        r" \frac{\sum_{i=1}^{k} g_i / i}{S \sum_{i=1}^{k} (1-\alpha)^{i-1} / i}"
    ),
    "nERR_IA@k = Σ_{i=1..k} g_i/i / that of the greedy ideal": (
        r"\mathrm{nERR\text{-}IA}@k = \frac{\sum_{i=1}^{k} g_i / i}{\text{the same sum for the greedy ideal}}"
    ),
    "NRBP = (1 − (1−α)·β)/S · Σ_i β^(i−1)·g_i": (
        r"\mathrm{NRBP} = \frac{1 - (1-\alpha) \cdot \beta}{S} \sum_i \beta^{\,i-1} \cdot g_i"
    ),
    "nNRBP = NRBP / that of the greedy ideal": (
        r"\mathrm{nNRBP} = \frac{\mathrm{NRBP}}{\mathrm{NRBP} \text{ of the greedy ideal}}"
    ),
    "P_IA@k = Σ_s P(s)·(documents down to rank k that are relevant to s)/k": (
        r"\mathrm{P\text{-}IA}@k = \sum_s P(s) \cdot \frac{\text{documents down to rank } k \text{ that are relevant to } s}{k}"
    ),
    "AP_IA = Σ_s P(s)·AP_s": r"\mathrm{AP\text{-}IA} = \sum_s P(s) \cdot \mathrm{AP}_s",
    "D_nDCG@k = Σ_{i=1..k} g_i/log2(i+1) / that of the ideal": (
        r"\mathrm{D\text{-}nDCG}@k = \frac{\sum_{i=1}^{k} g_i / \log_2(i+1)}{\text{the same sum for the ideal}}"
    ),
    "Dsharp_nDCG@k = γ·strec@k + (1−γ)·D_nDCG@k": (
        r"\mathrm{D}\sharp\text{-}\mathrm{nDCG}@k ="
        r" \gamma \cdot \mathrm{strec}@k + (1-\gamma) \cdot \mathrm{D\text{-}nDCG}@k"
    ),
    "IA(M) = Σ_s P(s)·M_s": r"\mathrm{IA}(M) = \sum_s P(s) \cdot M_s",
    "Gini@k = Σ_{i=1..n} (2i − n − 1)·x_i / (n·Σ x)": (
        r"\mathrm{Gini}@k = \frac{\sum_{i=1}^{n} (2i - n - 1) \cdot x_i}{n \sum x}"
    ),
    "Entropy@k = −Σ_i p_i·log2(p_i), where p_i = x_i / Σ x": (
        r"\mathrm{Entropy}@k = -\sum_i p_i \cdot \log_2 p_i \quad\text{where}\quad p_i = \frac{x_i}{\sum x}"
    ),
    "Personalisation@k = 1 − the mean of |A∩B| / √(|A|·|B|)": (
        r"\mathrm{Personalisation}@k = 1 - \text{the mean of } \frac{|A \cap B|}{\sqrt{|A| \cdot |B|}}"
    ),
    "Novelty@k = the mean of −log2(p_i)": r"\mathrm{Novelty}@k = \text{the mean of } -\!\log_2 p_i",
    "Exposure(group=g)@k = Σ_i a_i·m_i / Σ_i a_i": (
        r"\mathrm{Exposure}(\text{group}=g)@k = \frac{\sum_i a_i \cdot m_i}{\sum_i a_i}"
    ),
    "EE_L@k = Σ_d (ε_d − ε*_d)²": r"\mathrm{EE\text{-}L}@k = \sum_d (\varepsilon_d - \varepsilon^*_d)^2",
    "EE_D@k = Σ_d ε_d²": r"\mathrm{EE\text{-}D}@k = \sum_d \varepsilon_d^2",
    "EE_R@k = Σ_d ε_d·ε*_d": r"\mathrm{EE\text{-}R}@k = \sum_d \varepsilon_d \cdot \varepsilon^*_d",
    "Miscalibration@k = Σ_c p_c·log2(p_c / ((1 − α)·q_c + α·p_c))": (
        r"\mathrm{Miscalibration}@k ="
        r" \sum_c p_c \cdot \log_2 \frac{p_c}{(1 - \alpha) \cdot q_c + \alpha \cdot p_c}"
    ),
}
# Formulas within sentences.
WITHIN = {
    "Σ_{i=1..min(m, k)} a_i / m": r"\frac{1}{m} \sum_{i=1}^{\min(m, k)} a_i",
    "g_i = Σ_s (1−α)^n": r"g_i = \sum_s (1-\alpha)^n",
    "g = Σ_s P(s)·g_s": r"g = \sum_s P(s) \cdot g_s",
    "((i+T+T_i−1)/(i+T+T_i))²": r"\left(\frac{i+T+T_i-1}{i+T+T_i}\right)^2",
    "1/(i+2T−1)²": r"1/(i+2T-1)^2",
    "1 − |A∩B| / |A∪B|": r"1 - |A \cap B| / |A \cup B|",
    "⌊m·R + 0.9⌋": r"\lfloor m \cdot R + 0.9 \rfloor",
    "⌊r·R + 0.9⌋": r"\lfloor r \cdot R + 0.9 \rfloor",
    "ε = 0.00001": r"\varepsilon = 0.00001",
    "s = (2^g − 1) / 2^max": r"s = (2^g - 1) / 2^{\max}",
    "RBO = Σ_{i=1..1000} p^(i−1)·(documents in both lists down to rank i)/i": (
        r"\mathrm{RBO} = \sum_{i=1}^{1000} p^{\,i-1} \cdot (\text{documents in both lists down to rank } i) / i"
    ),
    "i ≤ k": r"i \le k",
    "p^n": "p^n",
}
# Of fusion, by the formula as plain text.
FUSION = {
    "Σ wᵢ / (k + rᵢ)": (r"$\sum_i w_i / (k + r_i)$"),
    "Σ wᵢ·sᵢ": (r"$\sum_i w_i \cdot s_i$"),
    "n · Σ wᵢ·sᵢ": (r"$n \cdot \sum_i w_i \cdot s_i$"),
    "Σ wᵢ·sᵢ / n": (r"$\sum_i w_i \cdot s_i / n$"),
    "min sᵢ": (r"$\min s_i$"),
    "max sᵢ": (r"$\max s_i$"),
    "median sᵢ": (r"median of the $s_i$"),
    "Σ wᵢ·(C − rᵢ + 1), and wᵢ·(C − Nᵢ + 1)/2 from a run of Nᵢ documents that lacks the document": (
        r"$\sum_i w_i \cdot (C - r_i + 1)$, and $w_i \cdot (C - N_i + 1)/2$ from a run of $N_i$ documents that lacks the document"
    ),
    "n · Σ wᵢ / rᵢ²": (r"$n \cdot \sum_i w_i / r_i^2$"),
    "ln n · Σ wᵢ / rᵢ²": (r"$\ln n \cdot \sum_i w_i / r_i^2$"),
    "Σ wᵢ·(1 − p)·p^(rᵢ − 1)": (r"$\sum_i w_i \cdot (1 - p) \cdot p^{\,r_i - 1}$"),
    "(s − min) / (max − min)": (r"$(s - \min) / (\max - \min)$"),
    "(s − mean) / sd, sd = √(Σ(s − mean)² / N)": (
        r"$(s - \mathrm{mean}) / \mathrm{sd}$, $\mathrm{sd} = \sqrt{\sum (s - \mathrm{mean})^2 / N}$"
    ),
    "(s − min) / Σ(s − min)": (r"$(s - \min) / \sum (s - \min)$"),
    "1 − (r − 1) / N": (r"$1 - (r - 1) / N$"),
    "s": (r"$s$"),
}
_WITHIN = re.compile("|".join(map(re.escape, WITHIN)) + r"|\b[A-Za-z]_[a-z]\b")


def typeset(definition: str) -> str:
    """Return a definition for a page: its formula on a line of its own, and what follows it."""
    lead = max((each for each in FORMULAS if definition.startswith(each)), key=len, default="")
    rest = definition.removeprefix(lead).lstrip(",.: ")
    text = _WITHIN.sub(lambda found: f"${WITHIN.get(found[0], found[0])}$", rest)
    if lead and text.startswith(("the ", "each ")):
        text = f"That is, {text}"
    formula = f"$$\n{FORMULAS[lead]}\n$$" if lead else ""
    return "\n\n".join(part for part in (formula, f"{text}." if text else "") if part)
