"""`joulemark doctor`: check what is installed, what is missing and how to get it.

joulemark doctor
"""

from joulemark.cli import app
from joulemark.cli._output import entry
from joulemark.errors import ToolError


@app.command()
def doctor() -> None:
    """Report what is installed, what is missing and how to get it.

    Exits with 4 when something is missing that `joulemark run` needs.
    """
    from joulemark.cli._installed import examine

    findings = examine()
    width = max(len(f.name) for f in findings)
    for finding in findings:
        if finding.state is not None:
            mark, text = "ok     ", finding.state
        else:
            mark = "MISSING" if finding.needed else "absent "
            text = f"{finding.purpose}; to get it: {finding.get}"
        entry(f"{mark}  {finding.name:{width}}  ", text)
    missing = [f.name for f in findings if f.needed and f.state is None]
    if missing:
        raise ToolError(f"missing: {', '.join(missing)}", None, "see above how to get them")
