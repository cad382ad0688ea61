"""The core's addresses: for members, but for the site's own and that of an invitation."""

from django.urls import path

from evaluation.admin.study_list import study_list
from evaluation.views.account_tokens import account_token_revoke, account_tokens
from evaluation.views.docs import docs_image, docs_index, docs_page
from evaluation.views.home import home
from evaluation.views.invitation import invitation
from evaluation.views.patterns import patterns

app_name = "evaluation"
urlpatterns = [
    path("", home, name="home"),
    path("patterns/", patterns, name="patterns"),
    path("account/tokens/", account_tokens, name="account-tokens"),
    path("account/tokens/<slug:key>/revoke/", account_token_revoke, name="account-token-revoke"),
    # In logs the token is masked (`config.logs`).
    path("invitations/<slug:invitation>/", invitation, name="invitation"),
    path("docs/", docs_index, name="docs"),
    path("docs/images/<slug:name>.png", docs_image, name="docs-image"),
    path("docs/<path:page>/", docs_page, name="docs-page"),
    path("studies/", study_list, name="study-list"),
]
