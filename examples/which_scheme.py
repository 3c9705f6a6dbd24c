"""Which scheme, if one does not know the handoff that comes? A marimo notebook over a sweep.

marimo edit examples/which_scheme.py
marimo export html examples/which_scheme.py -o which_scheme.html [-- --sweep million.parquet]

which_scheme.ipynb is this notebook, executed over the million handoffs of sweep-million.toml.
"""

import marimo

app = marimo.App(width="medium", app_title="Which scheme?")


@app.cell(hide_code=True)
def question(mo):
    mo.md(
        """
        # Which scheme, if one does not know the handoff that comes?

        Each paper shows its scheme on the links, the kind of handoff and the stack that it was made for. A host has to choose before it knows any of them. So all schemes run over
        **all pairs of the bench's links, both kinds of handoff, one flow and several**. Every transfer time is held against the *bound*: the time that no sender can beat on
        these links ([bench.md](https://github.com/segue-net/segue/blob/main/docs/reference/bench.md)). A ratio of 1 is the best that there is, whatever the stack.

        A *case* is one pair of links, kind and number of flows; its ratio is the median over the handoff times. An unfinished transfer counts as infinite.
        """
    )


@app.cell
def imports():
    import tempfile
    from pathlib import Path

    import marimo as mo
    import polars as pl

    import segue

    # All rows, too, where tables are not marimo's own: in an exported notebook.
    pl.Config.set_tbl_rows(30)
    return Path, mo, pl, segue, tempfile


@app.cell
def handoffs(Path, mo, pl, segue, tempfile):
    # A sweep that is there (--sweep FILE), or the one of sweep-schemes.toml, made anew: half a minute on two cores.
    given = mo.cli_args().get("sweep")
    if given is None:
        folder = Path(tempfile.mkdtemp())
        path = segue.sweep(mo.notebook_dir() / "sweep-schemes.toml", out=folder / "schemes.parquet")
    else:
        path = Path(str(given))
    ratio = pl.col("transfer_s").fill_null(float("inf")) / pl.col("bound_s")
    points = pl.scan_parquet(path).with_columns(ratio.alias("ratio"))
    return (points,)


@app.cell
def cases(pl, points):
    case = ["old", "new", "kind", "flows"]
    cases = (
        points.group_by(*case, "scheme", "stack")
        .agg(pl.col("ratio").median(), pl.col("spurious_timeouts").gt(0).mean().alias("spurious"), pl.len())
        .collect()
        .with_columns((pl.col("ratio") / pl.col("ratio").min().over(case)).alias("regret"))
        .sort(*case, "ratio")
    )
    return (cases,)


@app.cell(hide_code=True)
def counted(cases, mo, pl):
    mo.md(f"""{cases["len"].sum():,} handoffs, {cases.select(pl.struct("old", "new", "kind", "flows").n_unique()).item()} cases,
    {cases["scheme"].n_unique()} schemes. Below, by the ratio in the worst case of each scheme.""")


@app.cell
def ranking(cases, pl):
    ranking = (
        cases.group_by("scheme", "stack")
        .agg(
            pl.col("ratio").median().alias("typical ratio"),
            pl.col("ratio").max().alias("worst ratio"),
            pl.col("regret").median().alias("typical regret"),
            pl.col("regret").max().alias("worst regret"),
            pl.col("regret").le(1.05).mean().alias("within 5 % of the best"),
            pl.col("spurious").mean().alias("spurious timeouts"),
        )
        .sort("worst ratio", "typical ratio", "scheme")
    )
    return (ranking,)


@app.cell
def shown(mo, pl, ranking):
    mo.ui.table(ranking.with_columns(pl.selectors.float().round(2)), selection=None, page_size=30)


@app.cell(hide_code=True)
def where(mo):
    mo.md("## Where the schemes fail\n\nThe worst case of each, and which scheme is best there.")


@app.cell
def failures(cases, mo, pl):
    case_of = ["old", "new", "kind", "flows"]
    best = cases.group_by(case_of).first().select(*case_of, pl.col("scheme").alias("best"), pl.col("ratio").alias("its ratio"))
    worst = cases.sort("ratio", descending=True).group_by("scheme", maintain_order=True).first()
    failures = worst.join(best, on=case_of).select("scheme", *case_of, "ratio", "best", "its ratio").sort("ratio")
    mo.ui.table(failures.with_columns(pl.selectors.float().round(2)), selection=None, page_size=30)


@app.cell(hide_code=True)
def answer(mo, pl, ranking):
    def name(row):
        return f"`{row['scheme']}` ({row['worst ratio']:.1f} times the bound at worst, {row['typical ratio']:.2f} typically)"

    safest = ranking.row(0, named=True)
    nearest = ranking.sort("typical ratio", "scheme").row(0, named=True)
    broadest = ranking.sort("within 5 % of the best", "scheme", descending=[True, False]).row(0, named=True)
    of_sack = ranking.filter(pl.col("scheme") == "sack").row(0, named=True)
    share = broadest["within 5 % of the best"]
    mo.md(
        f"""
        ## The answer of these numbers

        * It fails least where it fails: {name(safest)}.
        * Nearest to the bound in the typical case: {name(nearest)}.
        * Most often within 5 % of the best scheme of the case: {name(broadest)}, in {share:.0%} of the cases.
        * Regular TCP beside them: {name(of_sack)}.
        """
    )


if __name__ == "__main__":
    app.run()
