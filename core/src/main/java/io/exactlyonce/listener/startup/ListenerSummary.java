package io.exactlyonce.listener.startup;

import io.exactlyonce.FollowUp;
import io.exactlyonce.InDoubtPolicy;
import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.listener.method.ListenerMethod;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.renewal.RenewalSchedule;
import java.time.Duration;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Logs a listener's settings, in one line for each queue, when the listener starts.
 *
 * @param backend describes the claim store; called for each line
 * @param policy the settings of each listener's claims
 * @param renewals when visibility timeouts and leases are renewed
 */
public record ListenerSummary(Supplier<String> backend, OutcomePolicy policy, RenewalSchedule renewals) {

    private static final Logger log = LoggerFactory.getLogger(ListenerSummary.class);

    public void log(Subscription subscription, ListenerMethod listener) {
        log.info("{}: {}", subscription.listener(), describe(subscription, listener));
    }

    String describe(Subscription subscription, ListenerMethod listener) {
        OutcomePolicy own = policy.of(subscription.listener());
        ClaimSettings terms = own.terms();
        QueueSettings settings = subscription.settings();
        StringJoiner line = new StringJoiner(", ");
        line.add("queue " + subscription.queue() + (subscription.isFifo() ? " (FIFO)" : ""));
        line.add("key " + listener.keyText());
        if (!listener.annotation().fingerprint().isEmpty()) {
            line.add("fingerprint " + listener.annotation().fingerprint());
        }
        if (listener.scope() != null) {
            line.add("scope " + listener.scope());
        }
        line.add("visibility timeout " + renewed(settings.window().length()));
        if (terms.lease() != null) {
            line.add("lease " + renewed(terms.lease()));
        }
        if (subscription.timeout() != null) {
            line.add("timeout " + text(subscription.timeout()));
        }
        if (listener.isBatch()) {
            line.add("in batches");
        }
        if (listener.transaction() != null) {
            line.add("effects in the claims' transaction");
        }
        if (listener.annotation().whenInDoubt() != InDoubtPolicy.RERUN) {
            line.add("whenInDoubt " + listener.annotation().whenInDoubt());
        }
        if (listener.whenKeyMissing() != MissingKeyPolicy.REFUSE) {
            line.add("whenKeyMissing " + listener.whenKeyMissing());
        }
        line.add(
                settings.maxReceiveCount() == null
                        ? "no dead-letter queue"
                        : "dead-letter queue after %d receives".formatted(settings.maxReceiveCount()));
        line.add("claims on " + backend.get());
        if (terms.retention() != null) {
            line.add("retention " + text(terms.retention()));
        }
        MismatchPolicy onMismatch = terms.onMismatch(listener.onMismatch());
        if (onMismatch != MismatchPolicy.REFUSE || onMismatch != policy.terms().onMismatch()) {
            line.add("on-mismatch " + onMismatch.name().toLowerCase(Locale.ROOT));
        }
        if (!own.backoff().equals(policy.backoff())) {
            line.add("retry after %s to %s"
                    .formatted(text(own.backoff().initial()), text(own.backoff().longest())));
        }
        if (listener.ignoresKeyAttribute()) {
            line.add("message attribute %s ignored".formatted(FollowUp.KEY_ATTRIBUTE));
        }
        return line.toString();
    }

    private String renewed(Duration length) {
        return renewals.enabled()
                ? "%s renewed every %s".formatted(text(length), text(renewals.longestInterval(length)))
                : text(length) + " never renewed";
    }

    private static String text(Duration length) {
        return DurationFormatterUtils.print(length, DurationFormat.Style.COMPOSITE);
    }
}
