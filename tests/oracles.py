"""Which oracle vouches for which family: the tests of an oracle take their families from here."""

LITERAL = "literal formula"
PERMUTATIONS = "all permutations"
PYTREC = "pytrec_eval"
CWL = "ir_measures (cwl_eval)"
GDEVAL = "ir_measures (gdeval)"
COMPAT = "ir_measures (compat)"
JUDGED = "ir_measures (judged)"
MSMARCO = "ir_measures (msmarco)"

ORACLES = {
    "CG": (LITERAL, PERMUTATIONS),
    "DCG": (LITERAL, PERMUTATIONS),
    "IDCG": (LITERAL, PERMUTATIONS),
    "nDCG": (LITERAL, PERMUTATIONS, PYTREC, GDEVAL),
    "nDCGrel": (LITERAL, PYTREC),
    "RnDCG": (LITERAL, PYTREC),
    "G": (LITERAL, PYTREC),
    "binG": (LITERAL, PYTREC),
    "SDCG": (LITERAL, PERMUTATIONS, CWL),
    "grid_DCG": (LITERAL, PERMUTATIONS),
    "grid_nDCG": (LITERAL, PERMUTATIONS),
    "P": (LITERAL, PERMUTATIONS, PYTREC, CWL),
    "R": (LITERAL, PERMUTATIONS, PYTREC),
    "F": (LITERAL, PERMUTATIONS, PYTREC),
    "RelP": (LITERAL, PERMUTATIONS, PYTREC),
    "SetAP": (LITERAL, PERMUTATIONS, PYTREC),
    "Success": (LITERAL, PERMUTATIONS, PYTREC),
    "Utility": (LITERAL, PERMUTATIONS, PYTREC),
    "Judged": (LITERAL, PERMUTATIONS, JUDGED),
    "Unjudged": (LITERAL, PERMUTATIONS),
    "UnjudgedMass": (LITERAL, PERMUTATIONS),
    "NumQ": (LITERAL, PERMUTATIONS, PYTREC),
    "NumRet": (LITERAL, PERMUTATIONS, PYTREC),
    "NumRel": (LITERAL, PERMUTATIONS, PYTREC),
    "NumRelRet": (LITERAL, PERMUTATIONS, PYTREC),
    "NumNonrelRet": (LITERAL, PERMUTATIONS, PYTREC),
    "AP": (LITERAL, PERMUTATIONS, PYTREC),
    "GMAP": (LITERAL, PERMUTATIONS, PYTREC),
    "RR": (LITERAL, PERMUTATIONS, PYTREC, CWL, MSMARCO),
    "Rprec": (LITERAL, PYTREC),
    "iprec": (LITERAL, PYTREC),
    "11pt": (LITERAL, PYTREC),
    "bpref": (LITERAL, PYTREC),
    "GMbpref": (LITERAL, PYTREC),
    "infAP": (LITERAL, PYTREC),
    "yaap": (LITERAL,),
    "ERR": (LITERAL, GDEVAL),
    "nERR": (LITERAL,),
    "RBP": (LITERAL, PERMUTATIONS, CWL),
    "RBPres": (LITERAL,),
    "Q": (LITERAL,),
    "GAP": (LITERAL,),
    "INST": (LITERAL, CWL),
    "INSQ": (LITERAL, CWL),
    "BPM": (LITERAL, CWL),
    "ETG": (LITERAL,),
    "ED": (LITERAL,),
    "Compat": (LITERAL, COMPAT),
}


def vouched(oracle):
    """The names of the families that an oracle vouches for."""
    return [name for name, oracles in ORACLES.items() if oracle in oracles]
