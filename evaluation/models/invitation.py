"""Invitations of colleagues to a study."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from evaluation.models.study import Study, StudyMember


class StudyInvitationQuerySet(models.QuerySet["StudyInvitation"]):
    def open(self) -> "StudyInvitationQuerySet":
        """Invitations that can still be accepted."""
        return self.filter(
            Q(invited_by=None) | Q(invited_by__is_active=True),
            accepted_at=None,
            withdrawn_at=None,
            expires_at__gt=timezone.now(),
        )


class StudyInvitation(models.Model):
    """A role in one study, offered to whoever holds the link. The token in it is kept as a digest."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=StudyMember.Role)
    email = models.EmailField(blank=True)
    # When the link was sent there; without it the address only says whom it is meant for.
    mailed_at = models.DateTimeField(null=True, blank=True)
    token_hash = models.CharField(max_length=64, unique=True)
    # Empty for whoever runs the server. An account that is deleted leaves no invitation behind.
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    objects = StudyInvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(
                name="study_invitation_role_known", condition=Q(role__in=StudyMember.Role.values)
            ),
            models.CheckConstraint(
                name="study_invitation_ends_once", condition=Q(accepted_at=None) | Q(withdrawn_at=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.email or 'link'} ({self.role})"

    def problem(self, now: datetime) -> str:
        """A sentence that says why it can't be accepted any more; empty while it can."""
        if self.accepted_at is not None:
            return "This invitation has already been used."
        if self.withdrawn_at is not None or (self.invited_by and not self.invited_by.is_active):
            return "This invitation was withdrawn."
        if self.expires_at <= now:
            return "This invitation has expired."
        return ""
