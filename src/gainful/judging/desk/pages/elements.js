// Elements of the page. Whatever comes from a study is put in as text, never as markup.

export function byId(id) {
  return document.getElementById(id);
}

export function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") made.className = value;
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...content.filter((part) => part !== null && part !== undefined).map((part) => (part instanceof Node ? part : String(part))));
  return made;
}

export function replace(parent, ...content) {
  parent.replaceChildren(...content);
}

// A mark in the colour of a grade: from the lowest of a scale to the highest.
export function swatch(scale, value) {
  const made = element("span", { class: "swatch", "aria-hidden": "true" });
  made.style.setProperty("--share", shareOfScale(scale, value));
  return made;
}

export function shareOfScale(scale, value) {
  const place = scale.findIndex((grade) => grade.value === value);
  return place < 0 ? 0.5 : place / Math.max(1, scale.length - 1);
}

export function counted(number, word) {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

// The bytes of a file, as base64.
export function fileContent(file) {
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(reader.result.slice(reader.result.indexOf(",") + 1)));
    reader.addEventListener("error", () => fail(Object.assign(new Error(`${file.name} could not be read.`), { own: true })));
    reader.readAsDataURL(file);
  });
}

export function remember(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false; // private windows, or no room
  }
}

export function remembered(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function setTheme() {
  const chosen = remembered("desk:theme", null);
  if (chosen) document.documentElement.dataset.theme = chosen;
  byId("theme").addEventListener("click", () => {
    const dark = getComputedStyle(document.documentElement).colorScheme === "dark"
      || (document.documentElement.dataset.theme === undefined && matchMedia("(prefers-color-scheme: dark)").matches);
    document.documentElement.dataset.theme = dark ? "light" : "dark";
    remember("desk:theme", document.documentElement.dataset.theme);
  });
}
