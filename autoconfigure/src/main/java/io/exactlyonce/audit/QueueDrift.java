package io.exactlyonce.audit;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;

/** What has changed in a queue's attributes between two reads. Pure. */
final class QueueDrift {

    /** Window and redrive policy are told by what goes by them, at once, and counts change all the time. */
    private static final List<String> TOLD_ELSEWHERE = List.of("VisibilityTimeout", "RedrivePolicy");

    private static final List<String> NO_SETTINGS = List.of("ApproximateNumberOf", "LastModifiedTimestamp");

    private QueueDrift() {}

    /** Returns a line for each attribute that was changed, such as {@code MessageRetentionPeriod 345600 -> 60}. */
    static List<String> between(QueueState before, QueueState now) {
        TreeSet<String> names = new TreeSet<>(before.attributes().keySet());
        names.addAll(now.attributes().keySet());
        names.removeIf(name -> NO_SETTINGS.stream().anyMatch(name::startsWith) || TOLD_ELSEWHERE.contains(name));
        Stream<String> settings = names.stream()
                .filter(name -> !Objects.equals(value(before, name), value(now, name)))
                .map(name -> "%s %s -> %s".formatted(name, value(before, name), value(now, name)));
        return Stream.concat(settings, target(before, now)).toList();
    }

    private static Stream<String> target(QueueState before, QueueState now) {
        String old = target(before);
        String found = target(now);
        return old.equals(found) ? Stream.empty() : Stream.of("dead-letter queue %s -> %s".formatted(old, found));
    }

    private static String target(QueueState queue) {
        return queue.redrive().map(QueueState.Redrive::target).orElse("none");
    }

    private static String value(QueueState queue, String name) {
        Map<String, String> attributes = queue.attributes();
        return attributes.getOrDefault(name, "unset");
    }
}
