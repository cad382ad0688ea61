"""Generation in the admin: pipelines started, watched, their products looked through, and studies made of them."""

from collections.abc import Iterable

from evaluation.admin.pages import Tab, study_pages, tabs
from evaluation.admin.rights import View


def _pages() -> Iterable[tuple[str, str, View]]:
    from judging.admin.generation import corpora, overview, product, run, start, uploads

    yield "generation/", "generation", overview.overview
    yield "generation/queries/", "generation_queries", uploads.upload_queries
    yield "generation/corpora/", "generation_corpora", corpora.corpora
    yield "generation/import/", "generation_import", uploads.upload_products
    yield "generation/start/<slug:key>/", "generation_start", start.start
    yield "generation/runs/<int:run_id>/", "generation_run", run.show
    yield "generation/runs/<int:run_id>/state/", "generation_state", run.state
    yield "generation/runs/<int:run_id>/export/", "generation_export", run.export
    yield "generation/runs/<int:run_id>/make/", "generation_make", run.make
    yield "generation/runs/<int:run_id>/<slug:act>/", "generation_steer", run.steer
    yield "generation/products/<int:product_id>/", "generation_product", product.edit


study_pages["generation"] = _pages
tabs["generation"] = Tab("Generation", "admin:evaluation_study_generation", 26, "Design", "pipelines/README")
