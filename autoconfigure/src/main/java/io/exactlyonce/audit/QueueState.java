package io.exactlyonce.audit;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A queue's attributes, as SQS names and writes them.
 *
 * @param attributes all that the server told
 */
public record QueueState(Map<String, String> attributes) {

    /** SQS gives the redrive policy as JSON, with its number quoted or not. */
    private static final Pattern MAX_RECEIVE_COUNT = Pattern.compile("\"maxReceiveCount\"\\s*:\\s*\"?(\\d{1,9})");

    private static final Pattern TARGET = Pattern.compile("\"deadLetterTargetArn\"\\s*:\\s*\"([^\"]+)\"");

    /** Window and redrive policy are told by what goes by them, at once, and counts change all the time. */
    private static final List<String> TOLD_ELSEWHERE = List.of("VisibilityTimeout", "RedrivePolicy");

    private static final List<String> NO_SETTINGS = List.of("ApproximateNumberOf", "LastModifiedTimestamp");

    /**
     * Where messages go that were received too often.
     *
     * @param target the dead-letter queue's ARN
     * @param maxReceiveCount after how many receives
     */
    public record Redrive(String target, int maxReceiveCount) {

        /** Returns the dead-letter queue's name. */
        String queue() {
            return target.substring(target.lastIndexOf(':') + 1);
        }

        /** Returns the account that the dead-letter queue belongs to; empty if the ARN does not tell. */
        Optional<String> account() {
            String[] parts = target.split(":", -1);
            return parts.length == 6 ? Optional.of(parts[4]).filter(account -> !account.isEmpty()) : Optional.empty();
        }
    }

    public QueueState {
        attributes = Map.copyOf(attributes);
    }

    /** Returns where messages go that were received too often; empty if nowhere. */
    Optional<Redrive> redrive() {
        return text("RedrivePolicy").flatMap(policy -> {
            Matcher target = TARGET.matcher(policy);
            Matcher count = MAX_RECEIVE_COUNT.matcher(policy);
            return target.find() && count.find()
                    ? Optional.of(new Redrive(target.group(1), Integer.parseInt(count.group(1))))
                    : Optional.empty();
        });
    }

    /** Returns for how long the queue keeps a message. */
    Fact<Duration> retention() {
        return number("MessageRetentionPeriod")
                .<Fact<Duration>>map(seconds -> Fact.known(Duration.ofSeconds(seconds)))
                .orElseGet(() -> Fact.unknown("the server does not tell MessageRetentionPeriod"));
    }

    Optional<Long> inFlight() {
        return number("ApproximateNumberOfMessagesNotVisible");
    }

    Optional<Long> visible() {
        return number("ApproximateNumberOfMessages");
    }

    Optional<Long> delayed() {
        return number("ApproximateNumberOfMessagesDelayed");
    }

    /** Returns a line for each setting that is another one later, such as {@code MessageRetentionPeriod 345600 -> 60}. */
    List<String> changesUntil(QueueState later) {
        Map<String, String> before = settings();
        Map<String, String> now = later.settings();
        TreeSet<String> names = new TreeSet<>(before.keySet());
        names.addAll(now.keySet());
        return names.stream()
                .filter(name -> !Objects.equals(before.get(name), now.get(name)))
                .map(name -> "%s %s -> %s"
                        .formatted(name, before.getOrDefault(name, "unset"), now.getOrDefault(name, "unset")))
                .toList();
    }

    private Map<String, String> settings() {
        Map<String, String> settings = new HashMap<>(attributes);
        settings.keySet()
                .removeIf(name -> NO_SETTINGS.stream().anyMatch(name::startsWith) || TOLD_ELSEWHERE.contains(name));
        settings.put("dead-letter queue", redrive().map(Redrive::target).orElse("none"));
        return settings;
    }

    private Optional<Long> number(String name) {
        return text(name).filter(value -> value.matches("\\d{1,18}")).map(Long::valueOf);
    }

    private Optional<String> text(String name) {
        return Optional.ofNullable(attributes.get(name)).filter(value -> !value.isBlank());
    }
}
