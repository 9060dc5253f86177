package io.exactlyonce.audit;

import io.exactlyonce.ExactlyOnceSetupException;

/** A queue is set up in a way that {@link AuditMode#FAIL} does not accept. */
public final class QueueAuditException extends ExactlyOnceSetupException {

    QueueAuditException(AuditReport report) {
        super(
                "The audit of %s found\n%s".formatted(report.subscription(), report.table()),
                "do what stands under 'remedy', silence single rules with exactly-once.audit.silence=<rule>, or start"
                        + " nevertheless with exactly-once.audit.mode=warn",
                null);
    }
}
