"use strict";
(() => {
  const by = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  // Words left out of the address are usual; the server says the same.
  const usual = { kind: "mbb", disconnect: "1s", overlap: "1s", soft: "duplicate", return: "1s", address: "keep", flows: "1", notice: "instant", "notice-loss": "0", packets: "100",
    definition: "after-highest", stack: "", cc: "", traffic: "", neighbours: "", "notice-error": "", handoffs: "1", every: "", seed: "1", at: "" };

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
      // A user who moves it knows where it is; numbers are rounded, and would hold it back.
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
  const units = { bit: 1e-6, kbit: 1e-3, mbit: 1, gbit: 1e3, us: 1e-3, ms: 1, s: 1e3 };
  const plain = (number) => String(Number(Number(number).toPrecision(12)));
  const preset = (side) => by(`${side}-preset`);
  const named = (side, text) => [...preset(side).options].find((option) => option.value && option.value === text);
  const field = (side, name) => by(`${side}-${name}`);
  const rateWord = (mbit) => (mbit < 10 ? `${plain(mbit * 1000)}kbit` : `${plain(mbit)}mbit`);
  // The words behind a link, from the fields of the panel "more".
  const wordsOf = (side) => {
    const value = (name) => field(side, name).value.trim();
    const own = [];
    if (value("up")) own.push(`up=${rateWord(Number(value("up")))}`);
    // A written 0 takes the place of what a preset has.
    const told = (name) => value(name) && (Number(value(name)) || preset(side).value);
    if (told("loss")) own.push(`loss=${plain(value("loss"))}%`);
    if (told("jitter")) own.push(`jitter=${plain(value("jitter"))}ms`);
    if (value("queue")) own.push(`queue=${value("queue")}`);
    if (value("words")) own.push(value("words"));
    return own;
  };
  const written = {}; // a link as it came, as long as its fields say the same
  const headOf = (side) => {
    const chosen = preset(side).selectedOptions[0];
    const delay = `${plain(field(side, "delay").value)}ms`;
    if (!chosen?.value.startsWith("trace:")) return chosen?.value || `${rateWord(Number(field(side, "rate").value))}/${delay}`;
    const up = chosen.dataset.up && !/(^|,)up=/.test(field(side, "words").value) ? `,up=${chosen.dataset.up}` : "";
    return `${chosen.value}${up},delay=${delay}`;
  };
  const linkOf = (side) => {
    const link = [headOf(side), ...wordsOf(side)].join(",");
    return written[side]?.link === link ? written[side].text : link;
  };
  // Pieces of a link, at commas that stand in no brackets; the length of a queue belongs to it.
  const pieces = (text) => {
    const found = [];
    let depth = 0;
    for (const part of text.split(",")) {
      const last = found[found.length - 1];
      const queue = /^(up-)?queue=[^,]*$/.test(last ?? "") && /^[\d.+-]/.test(part);
      if (depth > 0 || queue) found[found.length - 1] = `${last},${part}`;
      else found.push(part);
      depth += (part.match(/\(/g) ?? []).length - (part.match(/\)/g) ?? []).length;
    }
    return found;
  };
  const setWords = (side, all) => {
    for (const name of ["up", "loss", "jitter", "queue", "words"]) field(side, name).value = "";
    const others = [];
    const forms = [["up", /^up=([\d.]+)(bit|kbit|mbit|gbit)$/i], ["loss", /^loss=([\d.]+)%$/], ["jitter", /^jitter=([\d.]+)ms$/]];
    for (const word of all) {
      const form = forms.find(([, form]) => form.test(word));
      const queue = /^queue=(.*)$/.exec(word)?.[1];
      if (form) {
        const [, number, unit] = form[1].exec(word);
        field(side, form[0]).value = plain(number * (unit ? units[unit.toLowerCase()] : 1));
      } else if (queue && [...field(side, "queue").options].some((option) => option.value === queue)) {
        field(side, "queue").value = queue;
      } else others.push(word);
    }
    field(side, "words").value = others.join(",");
    if (all.length) by("more").open = true;
  };
  const setHead = (side, text) => {
    const words = /^([\d.]+)(bit|kbit|mbit|gbit)\/([\d.]+)(us|ms|s)$/i.exec(text);
    if (!words) return false;
    field(side, "rate").value = plain(words[1] * units[words[2].toLowerCase()]);
    field(side, "delay").value = plain(words[3] * units[words[4].toLowerCase()]);
    return true;
  };
  // Whether the controls can show it.
  const setLink = (side, text) => {
    const [head, ...rest] = pieces(text);
    const option = named(side, head);
    preset(side).value = option ? head : "";
    if (option && head.startsWith("trace:")) {
      const delay = rest.find((word) => /^delay=[\d.]+(us|ms|s)$/.test(word));
      field(side, "delay").value = time(delay?.slice(6) ?? "20ms", "ms");
      setWords(side, rest.filter((word) => word !== delay && word !== `up=${option.dataset.up}`));
    } else {
      if (!setHead(side, option ? pieces(option.dataset.link)[0] : head)) return false;
      setWords(side, rest);
    }
    written[side] = { text, link: [headOf(side), ...wordsOf(side)].join(",") };
    return true;
  };
  // A preset whose numbers are moved becomes numbers with the words that it stood for.
  const unnamed = (side) => {
    const option = preset(side).selectedOptions[0];
    if (!option?.dataset.link) return;
    const own = wordsOf(side);
    preset(side).value = "";
    const key = (word) => word.split("=")[0];
    setWords(side, [...pieces(option.dataset.link).slice(1).filter((word) => !own.some((one) => key(one) === key(word))), ...own]);
  };

  // ------------------------------------------------------------------ schemes

  const box = (name) => all("input[name=scheme]").find((one) => one.value === name);
  const chosen = () => all("input[name=scheme]:checked").map((one) => one.value);
  const schemesOf = () => {
    const names = chosen();
    const first = by("first").value;
    return names.includes(first) ? [first, ...names.filter((name) => name !== first)] : names;
  };
  // The list of what others can be compared with has what is chosen.
  const offerFirst = (wanted) => {
    const names = chosen();
    by("first").replaceChildren(...names.map((name) => new Option(name, name)));
    by("first").value = names.includes(wanted) ? wanted : names[0] ?? "";
    by("chosen-schemes").textContent = names.join(", ") || "none";
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

  let neighboursWord = ""; // of an address, such as "3 cubic"
  let ownTime = false; // whether the user has chosen the handoff that is drawn
  let usualTime = by("at").defaultValue; // else the server does, s
  const neighbours = () => (Number.parseInt(neighboursWord, 10) === Number(by("neighbours").value)
    ? neighboursWord : by("neighbours").value);
  const kind = () => all("input[name=kind]").find((one) => one.checked).value;
  const times = { disconnect: "bbm", overlap: "soft", return: "ping-pong" }; // of one kind each
  const timeOf = (id) => (kind() === times[id] ? milliseconds(by(id).value) : usual[id]);
  const state = () => {
    const [notice, loss] = by("notice").value.split(" ");
    const words = {
      old: linkOf("old"), new: linkOf("new"), kind: kind(),
      disconnect: timeOf("disconnect"), overlap: timeOf("overlap"), soft: kind() === "soft" ? by("soft").value : usual.soft,
      return: timeOf("return"), address: by("own-address").value,
      flows: by("flows").value, schemes: schemesOf().join(","), notice, "notice-loss": loss,
      packets: by("packets").value, definition: by("definition").value, stack: by("stack").value, cc: by("cc").value,
      traffic: by("traffic").value, neighbours: neighbours(), "notice-error": by("notice-error").value.trim(),
      handoffs: by("handoffs").value, every: by("handoffs").value === "1" ? "" : `${by("every").value}s`,
      seed: by("seed").value,
      at: ownTime ? `${by("at").value}s` : usual.at,
    };
    const query = new URLSearchParams();
    for (const [key, word] of Object.entries(words)) if (word !== usual[key]) query.set(key, word);
    return readable(query);
  };
  // Links and times stay as they are; the server needs none of these in code.
  const readable = (query) => query.toString().replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%3D", "=");
  const milliseconds = (text) => (Number(text) === 1000 ? "1s" : `${text}ms`);
  const time = (text, unit) => {
    const words = /^([\d.]+)(us|ms|s)$/.exec(text ?? "");
    return words ? plain(Number(words[1]) * units[words[2]] / units[unit]) : null;
  };
  // Sets the controls by the address. Says which words of it no control can show, and what they show in its place.
  const restore = () => {
    const query = new URLSearchParams(location.search);
    const word = (key) => query.get(key) ?? usual[key];
    const instead = [];
    const refuse = (key, shown) => instead.push([key, query.get(key), shown]);
    for (const [side, link] of [["old", "6400kbit/9ms"], ["new", "200kbit/300ms"]]) {
      if (setLink(side, query.get(side) ?? link)) continue;
      setLink(side, link);
      refuse(side, link);
    }
    for (const one of all("input[name=kind]")) one.checked = one.value === word("kind");
    if (!all("input[name=kind]:checked").length) {
      all("input[name=kind]")[0].checked = true;
      refuse("kind", kind());
    }
    by("notice").value = `${word("notice")} ${word("notice-loss")}`;
    if (!by("notice").value) {
      by("notice").selectedIndex = 0;
      refuse(query.has("notice") ? "notice" : "notice-loss", usual.notice);
    }
    const number = (id, key, value, usually) => {
      by(id).value = value ?? "";
      if (value !== null && by(id).checkValidity()) return;
      by(id).value = usually;
      refuse(key, usually);
    };
    for (const key of Object.keys(times)) number(key, key, time(word(key), "ms"), "1000");
    for (const key of ["flows", "packets", "handoffs", "seed"]) number(key, key, word(key), usual[key]);
    number("every", "every", time(word("every") || "15s", "s"), "15");
    by("notice-error").value = word("notice-error");
    ownTime = query.has("at");
    number("at", "at", time(query.get("at") ?? `${usualTime}s`, "s"), usualTime);
    neighboursWord = word("neighbours");
    number("neighbours", "neighbours", neighboursWord ? String(Number.parseInt(neighboursWord, 10)) : "", "");
    for (const key of ["soft", "definition", "stack", "cc"]) {
      by(key).value = word(key);
      if (by(key).selectedIndex >= 0) continue;
      by(key).value = usual[key];
      refuse(key, usual[key] || "each scheme's own");
    }
    by("own-address").value = word("address");
    if (by("own-address").selectedIndex < 0) {
      by("own-address").value = usual.address;
      refuse("address", usual.address);
    }
    const traffic = word("traffic");
    if (![...by("traffic").options].some((option) => option.value === traffic)) by("traffic").append(new Option(traffic, traffic));
    by("traffic").value = traffic;
    const isSeries = word("handoffs") !== usual.handoffs;
    if (traffic || neighboursWord || word("notice-error") || isSeries) by("more").open = true;
    const asked = (query.get("schemes") ?? "sack,etcp-v1").split(",");
    const known = asked.filter((name) => box(name) || /^etcp:(a[1-5]|fig[1-3]|convergence)(\+|$)/.test(name));
    setSchemes(known.length ? known : ["sack", "etcp-v1"]);
    if (known.length < asked.length) refuse("schemes", schemesOf().join(","));
    const keys = ["old", "new", "schemes", ...Object.keys(usual)];
    for (const key of query.keys()) if (!keys.includes(key)) refuse(key, null);
    inStep();
    return instead;
  };
  // Controls that depend on others.
  const inStep = () => {
    const other = ["soft", "ping-pong"].includes(kind());
    for (const [id, own] of Object.entries(times)) {
      const off = kind() !== own;
      by(id).disabled = off;
      by(`${id}-slider`).disabled = off;
      by(id).parentElement.hidden = off && (id !== "disconnect" || other);
    }
    by("soft").parentElement.hidden = kind() !== "soft";
    by("every").disabled = by("handoffs").value === "1";
    for (const side of sides) {
      // The link's own parameters stand where nothing is written.
      const own = (name) => preset(side).selectedOptions[0].getAttribute(`data-usual-${name}`);
      for (const name of ["up", "loss", "jitter"]) field(side, name).placeholder = own(name);
      field(side, "queue").options[0].textContent = own("queue");
      // A trace has its own rate.
      const measured = preset(side).value.startsWith("trace:");
      field(side, "rate").disabled = measured;
      by(`${side}-rate-slider`).disabled = measured;
    }
    for (const { follow } of sliders) follow();
    const both = `${linkOf("old")} ${linkOf("new")}`;
    by("paper").value = [...by("paper").options].some((option) => option.value === both) ? both : "";
  };

  // ------------------------------------------------------------------ asking

  // One question of a kind at a time: a newer one ends the older one, here and at the server.
  const asking = {};
  const answerTo = async (path, query) => {
    asking[path]?.abort();
    const own = (asking[path] = new AbortController());
    const answer = await fetch(`${path}?${query}`, { signal: own.signal });
    if (!answer.ok) throw new Error((await answer.json()).error);
    return answer;
  };
  const ask = async (path, query) => (await answerTo(path, query)).json();
  // An answer that comes line by line; of comparisons that have come together the last.
  const lines = async function* (path, query) {
    const reader = (await answerTo(path, query)).body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let done = false; !done;) {
      const part = await reader.read();
      done = part.done;
      text += part.value ?? "";
      const whole = text.split("\n");
      text = done ? "" : whole.pop();
      const said = whole.filter((line) => line).map((line) => JSON.parse(line));
      const last = said.findLastIndex((view) => !view.handoff);
      for (const [index, view] of said.entries()) {
        if (!view.handoff && index !== last) continue;
        if (view.error) throw new Error(view.error);
        yield view;
      }
    }
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

  let shownComparison = "";
  let shownHandoff = "";
  const SOON = "100ms"; // then the server says what it has
  // Shows a comparison as it grows, and the handoff that comes beside. `ask` is called where none has come.
  const compare = async (query, ask) => {
    const whole = without(query, "at");
    asking["view/compare"]?.abort();
    const is = whole !== shownComparison;
    busy("result", is);
    if (!is) return ask();
    let drawn = false;
    let last = null;
    const at = ownTime ? `${by("at").value}s` : "usual";
    try {
      for await (const view of lines("view/compare", `${whole}&within=${SOON}&drawn=${at}`)) {
        if (view.handoff) {
          drawn = true;
          if (view.handoff.at) draws(view.handoff.at);
          offerCaptures(single(query));
          showHandoff(view.handoff, single(query));
          continue;
        }
        showComparison(view);
        shownComparison = ""; // the rest is to come
        busy("result", true);
        last = view;
      }
      if (!last || last.points < last.of) throw new Error("The answer has ended early. Expected the rest of it.");
      shownComparison = whole;
      busy("result", false);
    } catch (error) {
      if (error.name === "AbortError") return;
      shownComparison = "";
      failed("result", "problem", error);
      // The results that are there hold for as many handoffs as they say.
      if (last) by("result").classList.remove("stale");
    }
    if (!drawn) ask();
  };
  // The handoff that is drawn unless the user has chosen one.
  const draws = (at) => {
    usualTime = time(at, "s");
    if (ownTime || by("at").value === usualTime) return;
    by("at").value = usualTime;
    inStep();
  };
  /* An option's name stays whole at the end of a line. */
  const withOptions = (text) =>
    text.split(/(--[a-z-]+)/).map((part, index) => {
      if (index % 2 === 0) return part;
      const option = document.createElement("span");
      option.className = "option";
      option.textContent = part;
      return option;
    });
  const showComparison = (view) => {
    worked("result", "problem");
    const headline = [view.headline.replace("->", "\u2192"), ...view.notes].join("; ");
    by("headline").replaceChildren(...withOptions(headline));
    by("said").textContent = (view.points < view.of ? `${view.points} of ${view.of} handoffs so far. ` : "") + view.said;
    show("result", view.html);
    words.command.compare = view.command;
    words.toml = view.toml;
    draws(view.drawn);
    by("typical").replaceChildren(...view.typical.map(({ why, at }) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = `handoff at ${time(at, "s")} s (${why})`;
      button.addEventListener("click", () => {
        by("at").value = time(at, "s");
        ownTime = true;
        changed();
      });
      return button;
    }));
  };
  const showHandoff = (view, query) => {
    if (view.error) {
      shownHandoff = "";
      return failed("handoff", "handoff-problem", new Error(view.error));
    }
    worked("handoff", "handoff-problem");
    show("handoff", view.html);
    by("handoff-said").textContent = view.said;
    words.command.trace = view.command;
    shownHandoff = query;
  };
  const handoff = async (query) => {
    try {
      showHandoff(await ask("view/handoff", query), query);
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
  // One handoff is drawn, the first.
  const single = (query) => {
    const words = new URLSearchParams(without(query, "handoffs", "every"));
    words.set("at", `${by("at").value}s`);
    return words.toString();
  };
  const answer = (query) => {
    shown = query;
    offerCaptures(single(query));
    if (!schemesOf().length) {
      failed("result", "problem", new Error("No scheme is chosen; expected at least one."));
      return;
    }
    // The handoff comes with the comparison, unless that is there already.
    asking["view/handoff"]?.abort();
    busy("handoff", single(query) !== shownHandoff);
    compare(query, () => {
      if (shown !== query) return;
      const first = single(query); // with a time by now, if the user has chosen none
      offerCaptures(first);
      busy("handoff", first !== shownHandoff);
      if (first !== shownHandoff) handoff(first);
    });
  };
  // While a slider moves, the address changes in place; what it comes to is one step back.
  let waiting;
  let settled = ""; // the state of the last step
  const moving = () => {
    by("address").hidden = true;
    inStep();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const query = state();
      history.replaceState(null, "", `?${query}`);
      answer(query);
    }, 40);
  };
  const changed = () => {
    by("address").hidden = true;
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
    if (id === "at") ownTime = true;
    for (const side of sides) if (id === `${side}-rate` || id === `${side}-delay`) unnamed(side);
    if (event.target.matches("input[type=number], #more input") && event.target.checkValidity()) moving();
  });
  document.addEventListener("change", (event) => {
    const { id, name } = event.target;
    if (event.target.matches("input[type=range]")) return; // its number says it
    if (id === "at") ownTime = true;
    for (const side of sides) {
      const chosen = preset(side).value;
      if (id === `${side}-preset` && chosen) setLink(side, chosen);
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
  addEventListener("popstate", () => begin());
  // The address, as far as it can be taken; else a sentence about it, and what the page shows.
  const begin = async () => {
    const original = location.search.slice(1);
    const instead = restore();
    settled = state();
    history.replaceState(null, "", `?${settled}`);
    answer(settled);
    by("address").hidden = true;
    if (!instead.length) return;
    const said = instead.map(([key, word, used]) => (used === null ? `leaves out \`${key}=${word}\``
      : `shows ${used} in place of \`${key}=${word}\``)).join(", ");
    // The server has a sentence about the word.
    const words = new URLSearchParams({ old: linkOf("old"), new: linkOf("new") });
    for (const [key, word] of new URLSearchParams(original)) words.set(key, word);
    words.set("points", "1");
    let why = "";
    try {
      await ask("api/compare", readable(words));
    } catch (error) {
      if (error.name === "AbortError") return;
      why = `${error.message}${error.message.endsWith("?") ? "" : "."} `;
    }
    by("address").textContent = `${why}The page ${said}.`;
    by("address").hidden = false;
  };

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

  begin();
})();
