// SPDX-License-Identifier: Apache-2.0
// Shows the headings that contain all typed words, in place of the list of pages.
const field = document.getElementById("search");
const found = document.getElementById("found");
const pages = document.getElementById("pages");

function rank(heading, words) {
    const text = heading.toLowerCase();
    return (text.startsWith(words[0]) ? 0 : 1) + heading.length / 1000;
}

function show() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    found.hidden = words.length === 0;
    pages.hidden = words.length > 0;
    if (words.length === 0) return;
    const matches = headings.filter(([heading, page]) =>
        words.every(word => `${heading} ${page}`.toLowerCase().includes(word)));
    matches.sort((a, b) => rank(a[0], words) - rank(b[0], words));
    found.replaceChildren(...matches.slice(0, 30).map(([heading, page, target]) => {
        const item = document.createElement("li");
        const link = document.createElement("a");
        link.href = `${root}/${target}`;
        link.textContent = heading;
        item.append(link);
        if (page) {
            const where = document.createElement("small");
            where.textContent = page;
            item.append(where);
        }
        return item;
    }));
    if (matches.length === 0) found.textContent = "no heading has these words";
}

field.addEventListener("input", show);
document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== field) {
        event.preventDefault();
        field.focus();
    }
    if (event.key === "Enter" && document.activeElement === field) found.querySelector("a")?.click();
    if (event.key === "Escape") {
        field.value = "";
        show();
    }
});
show();
