package io.exactlyonce.audit;

import io.exactlyonce.ExactlyOnceSetupException;

/** The application does not start, because {@link AuditMode#FAIL} is set and the audit of a queue found an error. */
public final class QueueAuditException extends ExactlyOnceSetupException {

    QueueAuditException(AuditReport report) {
        super(
                "The audit of %s found\n%s".formatted(report.subscription(), report.table()),
                "apply each remedy, silence single rules with exactly-once.audit.silence=<rule>, or start"
                        + " anyway with exactly-once.audit.mode=warn",
                null);
    }
}
