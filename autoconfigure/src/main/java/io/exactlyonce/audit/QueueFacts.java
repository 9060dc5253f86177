package io.exactlyonce.audit;

import io.exactlyonce.visibility.Subscription;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * All that the rules judge of one listener on one queue.
 *
 * @param subscription with the window that the listener receives by
 * @param terms the application's settings
 * @param queue the queue's attributes
 * @param deadLetters those of its dead-letter queue; not known, too, if there is none
 * @param isRenewalDenied whether SQS does not let the listener change the visibility of messages
 * @param renewalUnknown why that is not known; {@code null} if it is
 * @param polls how many queues the listener's client polls
 * @param connections most that this client has at a time; {@code null} if that is not known
 * @param p99 of the listener's deliveries; {@code null} if too few have been measured
 */
record QueueFacts(
        Subscription subscription,
        QueueAudit.Terms terms,
        Attributes queue,
        Attributes deadLetters,
        boolean isRenewalDenied,
        @Nullable String renewalUnknown,
        int polls,
        @Nullable Integer connections,
        @Nullable Duration p99) {

    /** SQS gives the redrive policy as JSON, with its number quoted or not. */
    private static final Pattern MAX_RECEIVE_COUNT = Pattern.compile("\"maxReceiveCount\"\\s*:\\s*\"?(\\d{1,9})");

    private static final Pattern TARGET = Pattern.compile("\"deadLetterTargetArn\"\\s*:\\s*\"([^\"]+)\"");

    /** Window and redrive policy are told by what goes by them, at once, and counts change all the time. */
    private static final List<String> NOT_TOLD =
            List.of("VisibilityTimeout", "RedrivePolicy", "ApproximateNumberOf", "LastModifiedTimestamp");

    /**
     * Where messages go that were received too often.
     *
     * @param target the dead-letter queue's ARN
     * @param maxReceiveCount after how many receives
     */
    record Redrive(String target, int maxReceiveCount) {}

    /**
     * A queue's attributes, as SQS names and writes them.
     *
     * @param told all that the server told
     * @param unknown why they are not known; {@code null} if they are
     */
    record Attributes(Map<String, String> told, @Nullable String unknown) {

        static Attributes unknown(String why) {
            return new Attributes(Map.of(), why);
        }

        @Nullable Long number(String name) {
            String value = told.getOrDefault(name, "");
            return value.matches("\\d{1,18}") ? Long.valueOf(value) : null;
        }

        /** Returns for how long the queue keeps a message; {@code null} if that is not known. */
        @Nullable Duration retention() {
            Long seconds = number("MessageRetentionPeriod");
            return seconds == null ? null : Duration.ofSeconds(seconds);
        }

        /** Returns where messages go that were received too often; {@code null} if nowhere, or it is not known. */
        @Nullable Redrive redrive() {
            String policy = told.getOrDefault("RedrivePolicy", "");
            Matcher target = TARGET.matcher(policy);
            Matcher count = MAX_RECEIVE_COUNT.matcher(policy);
            return target.find() && count.find()
                    ? new Redrive(target.group(1), Integer.parseInt(count.group(1)))
                    : null;
        }

        /** Returns a line for each setting that is another one later, such as {@code MessageRetentionPeriod 345600 -> 60}. */
        List<String> changesUntil(Attributes later) {
            Map<String, String> before = settings();
            Map<String, String> now = later.settings();
            TreeSet<String> names = new TreeSet<>(before.keySet());
            names.addAll(now.keySet());
            return names.stream()
                    .filter(name -> !Objects.equals(before.get(name), now.get(name)))
                    .map(name ->
                            name + " " + before.getOrDefault(name, "unset") + " -> " + now.getOrDefault(name, "unset"))
                    .toList();
        }

        private Map<String, String> settings() {
            Map<String, String> settings = new TreeMap<>(told);
            settings.keySet().removeIf(name -> NOT_TOLD.stream().anyMatch(name::startsWith));
            Redrive redrive = redrive();
            settings.put("dead-letter queue", redrive == null ? "none" : redrive.target());
            return settings;
        }
    }

    Duration window() {
        return subscription.window().length();
    }

    Duration lease() {
        return terms.lease() == null ? window() : terms.lease();
    }

    QueueObserver.Levels levels() {
        return new QueueObserver.Levels(
                queue.number("ApproximateNumberOfMessages"),
                queue.number("ApproximateNumberOfMessagesNotVisible"),
                queue.number("ApproximateNumberOfMessagesDelayed"),
                deadLetters.number("ApproximateNumberOfMessages"));
    }
}
