"""Run the notebooks of this folder and store their output: ``python examples/run.py`` after a change of a cell.

It needs no Jupyter: the cells are plain Python that is executed in order, in one namespace.
"""

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")


def run_cells(sources):
    """Outputs of each cell, as nbformat 4 stores them: printed text, the last value, open figures."""
    namespace = {"__name__": "__main__"}
    return [run_cell(source, namespace) for source in sources]


def run_cell(source, namespace):
    """Execute one cell; the value of a last expression is an output, as in Jupyter."""
    import matplotlib.pyplot as plt

    body, last, printed, value = ast.parse(source).body, None, io.StringIO(), None
    if body and isinstance(body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        last = ast.Expression(body.pop().value)
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), namespace)
        if last is not None:
            value = eval(compile(last, "<cell>", "eval"), namespace)
    outputs = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue().splitlines(True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(True)}
        outputs.append({"output_type": "execute_result", "metadata": {}, "data": data})
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, format="png", dpi=100)
        data = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": ["<Figure>"]}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    plt.close("all")
    return outputs


def main(paths):
    """Run notebooks in place."""
    for path in paths:
        notebook = json.loads(path.read_text("utf-8"))
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        fresh = run_cells(["".join(cell["source"]) for cell in code])
        for count, (cell, outputs) in enumerate(zip(code, fresh, strict=True), start=1):
            results = [output for output in outputs if output["output_type"] == "execute_result"]
            for output in results:
                output["execution_count"] = count
            cell["execution_count"], cell["outputs"] = count, outputs
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted(Path(__file__).parent.glob("*.ipynb")))
