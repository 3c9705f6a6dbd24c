"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  // What is left out of the address is usual; the server says the same.
  const usual = { kind: "mbb", disconnect: "1s", flows: "1", notice: "instant", "notice-loss": "0", packets: "100",
    definition: "after-highest", stack: "", seed: "1" };

  // ------------------------------------------------------------------ sliders beside numbers

  // Links are compared by ratios: sliders are logarithmic, except where numbers are few.
  const sliders = all("input[type=range]").map((slider) => {
    const field = by(slider.id.replace("-slider", ""));
    const linear = field.id === "flows" || field.id === "at";
    const [least, most] = [Number(field.min), Number(field.max)];
    const position = (value) => 1000 * Math.log(value / least) / Math.log(most / least);
    const number = (place) => Number((least * (most / least) ** (place / 1000)).toPrecision(2));
    const follow = () => {
      const value = Number(field.value);
      // Whoever moves it knows where it is; numbers are rounded, and would hold it back.
      if (!(value > 0) || document.activeElement === slider) return;
      slider.value = linear ? value : position(value);
      slider.setAttribute("aria-valuetext", field.value);
    };
    slider.addEventListener("input", () => {
      field.value = linear ? slider.value : Math.min(most, Math.max(least, number(Number(slider.value))));
      slider.setAttribute("aria-valuetext", field.value);
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    slider.addEventListener("change", () => field.dispatchEvent(new Event("change", { bubbles: true })));
    field.addEventListener("input", follow);
    return { field, follow };
  });

  // ------------------------------------------------------------------ links

  const sides = ["old", "new"];
  const units = { bit: 1e-3, kbit: 1, mbit: 1e3, us: 1e-3, ms: 1, s: 1e3 };
  const plain = (number) => String(Number(number.toPrecision(12)));
  const preset = (side) => by(`${side}-preset`);
  const linkOf = (side) => preset(side).value || `${by(`${side}-rate`).value}kbit/${by(`${side}-delay`).value}ms`;
  const setLink = (side, text) => {
    const named = [...preset(side).options].find((option) => option.value && option.value === text);
    const words = /^([\d.]+)(bit|kbit|mbit)\/([\d.]+)(us|ms|s)$/i.exec(named ? named.dataset.link : text);
    preset(side).value = named ? text : "";
    if (!words) return;
    by(`${side}-rate`).value = plain(Number(words[1]) * units[words[2].toLowerCase()]);
    by(`${side}-delay`).value = plain(Number(words[3]) * units[words[4].toLowerCase()]);
  };

  // ------------------------------------------------------------------ schemes

  const box = (name) => all("input[name=scheme]").find((one) => one.value === name);
  const chosen = () => all("input[name=scheme]:checked").map((one) => one.value);
  const schemesOf = () => {
    const names = chosen();
    const first = by("first").value;
    return names.includes(first) ? [first, ...names.filter((name) => name !== first)] : names;
  };
  // The list of what others can be held against has what is chosen.
  const offerFirst = (wanted) => {
    const names = chosen();
    by("first").replaceChildren(...names.map((name) => new Option(name, name)));
    by("first").value = names.includes(wanted) ? wanted : names[0] ?? "";
  };
  const setSchemes = (names) => {
    for (const name of names.filter((name) => name && !box(name))) {
      const label = document.createElement("label"); // a sum of single algorithms
      const input = Object.assign(document.createElement("input"), { type: "checkbox", name: "scheme", value: name });
      label.append(input, ` ${name}`);
      by("single-schemes").append(label);
    }
    for (const one of all("input[name=scheme]")) one.checked = names.includes(one.value);
    if (all("#single-schemes input:checked").length) by("single-schemes").parentElement.open = true;
    offerFirst(names[0]);
  };

  // ------------------------------------------------------------------ the address is the state

  const kind = () => all("input[name=kind]").find((one) => one.checked).value;
  const state = () => {
    const [notice, loss] = by("notice").value.split(" ");
    const words = {
      old: linkOf("old"), new: linkOf("new"), kind: kind(),
      disconnect: kind() === "bbm" ? milliseconds(by("disconnect").value) : usual.disconnect,
      flows: by("flows").value, schemes: schemesOf().join(","), notice, "notice-loss": loss,
      packets: by("packets").value, definition: by("definition").value, stack: by("stack").value, seed: by("seed").value,
      at: `${by("at").value}s`,
    };
    const query = new URLSearchParams();
    for (const [key, word] of Object.entries(words)) if (word !== usual[key]) query.set(key, word);
    return readable(query);
  };
  // Links and times stay as they are; the server needs none of these in code.
  const readable = (query) => query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3A", ":");
  // What the address says, also where no control can: the server has a sentence about that.
  const asked = () => {
    const query = new URLSearchParams(state());
    for (const [key, word] of new URLSearchParams(location.search)) query.set(key, word);
    return readable(query);
  };
  const milliseconds = (text) => (Number(text) === 1000 ? "1s" : `${text}ms`);
  const time = (text, unit) => {
    const words = /^([\d.]+)(us|ms|s)$/.exec(text ?? "");
    return words ? plain(Number(words[1]) * units[words[2]] / units[unit]) : null;
  };
  const restore = () => {
    const query = new URLSearchParams(location.search);
    const word = (key) => query.get(key) ?? usual[key];
    setLink("old", query.get("old") ?? "6400kbit/9ms");
    setLink("new", query.get("new") ?? "200kbit/300ms");
    for (const one of all("input[name=kind]")) one.checked = one.value === word("kind");
    if (!all("input[name=kind]:checked").length) all("input[name=kind]")[0].checked = true;
    by("disconnect").value = time(word("disconnect"), "ms") ?? 1000;
    by("notice").value = `${word("notice")} ${word("notice-loss")}`;
    if (!by("notice").value) by("notice").selectedIndex = 0;
    for (const key of ["flows", "packets", "seed"]) by(key).value = word(key);
    for (const key of ["definition", "stack"]) {
      by(key).value = word(key);
      if (by(key).selectedIndex < 0) by(key).selectedIndex = 0;
    }
    by("at").value = time(query.get("at") ?? "8.2s", "s") ?? 8.2;
    setSchemes((query.get("schemes") ?? "sack,etcp-v1").split(","));
    inStep();
  };
  // Controls that depend on others.
  const inStep = () => {
    const off = kind() !== "bbm";
    by("disconnect").disabled = off;
    by("disconnect-slider").disabled = off;
    for (const { follow } of sliders) follow();
    const both = `${linkOf("old")} ${linkOf("new")}`;
    by("paper").value = [...by("paper").options].some((option) => option.value === both) ? both : "";
  };

  // ------------------------------------------------------------------ asking

  // One question of a kind at a time: a newer one ends the older one, here and at the server.
  const asking = {};
  const ask = async (path, query) => {
    asking[path]?.abort();
    const own = (asking[path] = new AbortController());
    const answer = await fetch(`${path}?${query}`, { signal: own.signal });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.error);
    return said;
  };
  const without = (query, ...keys) => {
    const words = new URLSearchParams(query);
    for (const key of keys) words.delete(key);
    return words.toString();
  };
  const show = (id, html) => {
    by(id).innerHTML = html; // made by the server, which escapes what it is told
    document.dispatchEvent(new Event("segue-shown"));
  };
  const busy = (id, is) => by(id).setAttribute("aria-busy", String(is));
  const failed = (place, problem, error) => {
    if (error.name === "AbortError") return;
    by(problem).textContent = error instanceof TypeError
      ? "The explorer does not answer; is segue explore still running?" : error.message;
    by(problem).hidden = false;
    busy(place, false);
    by(place).classList.add("stale");
  };
  const worked = (place, problem) => {
    by(problem).hidden = true;
    busy(place, false);
    by(place).classList.remove("stale");
  };

  let lasted = 0; // ms, the last whole comparison
  let shownComparison = "";
  let shownHandoff = "";
  const preview = 40; // handoffs that are shown first where all of them take long
  const compare = async (query) => {
    const whole = without(query, "at");
    if (whole === shownComparison) return;
    busy("result", true);
    try {
      if (lasted > 150) {
        showComparison(await ask("view/compare", `${whole}&points=${preview}`));
        busy("result", true); // the rest is to come
      }
      const begun = performance.now();
      const view = await ask("view/compare", whole);
      lasted = performance.now() - begun;
      showComparison(view);
      shownComparison = whole;
    } catch (error) {
      if (error.name !== "AbortError") shownComparison = "";
      failed("result", "problem", error);
    }
  };
  const showComparison = (view) => {
    worked("result", "problem");
    by("headline").textContent = [view.headline.replace("->", "\u2192"), ...view.notes].join("; ");
    by("said").textContent = (view.points < view.of ? `${view.points} of ${view.of} handoffs so far. ` : "") + view.said;
    show("result", view.html);
    words.command.compare = view.command;
    words.toml = view.toml;
    by("typical").replaceChildren(...view.typical.map(({ why, at }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `${why} ${at}`;
      button.addEventListener("click", () => {
        by("at").value = time(at, "s");
        changed();
      });
      return button;
    }));
  };
  const handoff = async (query) => {
    if (query === shownHandoff) return;
    busy("handoff", true);
    try {
      const view = await ask("view/handoff", query);
      worked("handoff", "handoff-problem");
      show("handoff", view.html);
      by("handoff-said").textContent = view.said;
      words.command.trace = view.command;
      shownHandoff = query;
    } catch (error) {
      if (error.name !== "AbortError") shownHandoff = "";
      failed("handoff", "handoff-problem", error);
    }
  };
  const offerCaptures = (query) => {
    by("captures").replaceChildren(...schemesOf().map((scheme) => {
      const words = new URLSearchParams(query);
      words.set("schemes", scheme);
      const link = document.createElement("a");
      link.href = `api/pcapng?${words}`;
      link.download = "";
      link.textContent = `pcapng of ${scheme}`;
      return link;
    }));
  };

  // ------------------------------------------------------------------ changes

  let shown; // the state that is on the screen
  const answer = (query) => {
    shown = query;
    offerCaptures(query);
    if (!schemesOf().length) {
      failed("result", "problem", new Error("No scheme is chosen; expected at least one."));
      return;
    }
    compare(query);
    handoff(query);
  };
  // While a slider moves, the address changes in place; what it comes to is one step back.
  let waiting;
  let settled = ""; // the state of the last step
  const moving = () => {
    inStep();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const query = state();
      history.replaceState(null, "", `?${query}`);
      answer(query);
    }, 40);
  };
  const changed = () => {
    inStep();
    clearTimeout(waiting);
    const query = state();
    if (query !== settled) {
      // The moves in between have replaced the step before.
      history.replaceState(null, "", `?${settled}`);
      history.pushState(null, "", `?${query}`);
      settled = query;
    }
    if (query !== shown) answer(query);
  };
  by("question").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("input", (event) => {
    const { id } = event.target;
    for (const side of sides) if (id === `${side}-rate` || id === `${side}-delay`) preset(side).value = "";
    if (event.target.matches("input[type=number]") && event.target.checkValidity()) moving();
  });
  document.addEventListener("change", (event) => {
    const { id, name } = event.target;
    if (event.target.matches("input[type=range]")) return; // its number says it
    for (const side of sides) {
      const named = preset(side).selectedOptions[0];
      if (id === `${side}-preset` && named?.value) setLink(side, named.value);
    }
    if (id === "paper" && event.target.value) event.target.value.split(" ").forEach((link, k) => setLink(sides[k], link));
    if (name === "scheme") offerFirst(by("first").value);
    if (event.target.matches("input[type=number]") && !event.target.reportValidity()) return;
    changed();
  });
  by("swap").addEventListener("click", () => {
    const [old, now] = sides.map(linkOf);
    setLink("old", now);
    setLink("new", old);
    changed();
  });
  addEventListener("popstate", () => {
    restore();
    settled = asked();
    answer(settled);
  });

  // ------------------------------------------------------------------ words to take away

  const words = { command: { compare: "", trace: "" }, toml: "" };
  const titles = { command: "The same on the command line", toml: "The same as a scenario file" };
  for (const button of all("button[data-shows]")) {
    button.addEventListener("click", () => {
      const { compare, trace } = words.command;
      by("words-heading").textContent = titles[button.dataset.shows];
      by("words-text").textContent = button.dataset.shows === "toml" ? words.toml : `${compare}\n${trace}\n`;
      by("copied").textContent = "";
      by("words").showModal();
    });
  }
  by("close-words").addEventListener("click", () => by("words").close());
  by("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(by("words-text").textContent);
      by("copied").textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(by("words-text")); // a browser that does not allow it
      by("copied").textContent = "Selected.";
    }
  });

  restore();
  settled = asked();
  history.replaceState(null, "", `?${settled}`);
  answer(settled);
})();
