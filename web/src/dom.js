// Elements, from text only: nothing here parses HTML, so no name from a recording can become markup.

const UNSHOWN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Text with control characters and marks of direction as \xNN, as in text reports: one name must not look like another. */
export const shown = (text) => text.replace(UNSHOWN, (c) => [...new TextEncoder().encode(c)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join(""));

const safe = (x) => (typeof x === "string" ? shown(x) : x);

/** h("td", { class: "n", onclick: f }, "text", element, ...) */
export function h(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(element, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [name, v] of Object.entries(value)) element.style.setProperty(name, v);
    else element.setAttribute(key, value === true ? "" : key === "value" ? value : safe(value));
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false).map(safe));
  return element;
}

let ids = 0;
export const newId = (prefix) => `${prefix}-${++ids}`;

/** A section of the page; returns it with its heading. */
export function section(title, about, ...children) {
  const id = newId("s");
  return h("section", { "aria-labelledby": id, "data-title": title },
    h("h2", { id }, title), about && h("p", { class: "about" }, about), ...children);
}

/** The value of a custom property of the style, as the page shows it now. */
export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Calls back when the page turns light or dark. */
const listeners = new Set();
export const onTheme = (f) => listeners.add(f);
export const themeChanged = () => listeners.forEach((f) => f());
