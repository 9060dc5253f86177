package io.exactlyonce.listener.container;

import io.exactlyonce.visibility.Subscription;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a queue's redrive policy says; SQS gives it as JSON, with its number quoted or not. */
final class RedrivePolicy {

    private static final Pattern MAX_RECEIVE_COUNT = Pattern.compile("\"maxReceiveCount\"\\s*:\\s*\"?(\\d{1,9})");

    private static final Logger log = LoggerFactory.getLogger(RedrivePolicy.class);

    private static final int FEWEST_RECEIVES = 3;

    private RedrivePolicy() {}

    /** Returns after how many receives a message is moved to the dead-letter queue, or {@code null} if there is none. */
    static @Nullable Integer maxReceiveCount(@Nullable String policy) {
        if (policy == null) {
            return null;
        }
        Matcher matcher = MAX_RECEIVE_COUNT.matcher(policy);
        return matcher.find() ? Integer.valueOf(matcher.group(1)) : null;
    }

    static void warnOfFewReceives(Subscription subscription) {
        Integer most = subscription.maxReceiveCount();
        if (most != null && most < FEWEST_RECEIVES) {
            log.warn(
                    "maxReceiveCount ({}) of the queue of {} should be at least {}: a message that fails once, or is "
                            + "delivered twice, ends in the dead-letter queue before its backoff can help; set it to 5",
                    most,
                    subscription,
                    FEWEST_RECEIVES);
        }
    }
}
