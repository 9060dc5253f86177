package io.exactlyonce.test.fuzz;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.json.JsonWriteFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * A message that a sender puts into a queue.
 *
 * @param queue the queue
 * @param body the body
 * @param attributes text, a number, or bytes, by name
 * @param group the group on a FIFO queue, or the tenant on a standard queue
 * @param key the expected key, whether or not it is valid; {@code null} if the body need not be readable
 */
public record HostileLetter(
        String queue,
        String body,
        Map<String, Object> attributes,
        String group,
        @Nullable String key) {

    private static final int MOST_ATTRIBUTES = 10;
    private static final String KEY_ATTRIBUTE = "ExactlyOnce-Key";

    private static final List<String> NAMES = List.of(
            KEY_ATTRIBUTE,
            "ExactlyOnce_ReceivedMessage",
            "JavaType",
            "contentType",
            "id",
            "timestamp",
            "replyChannel",
            "nativeHeaders",
            "AcknowledgementCallback",
            "micrometer.observation",
            "traceparent",
            "tenant",
            "field",
            "Sqs_ReceiptHandle",
            "Sqs_SourceData",
            "Sqs_QueueAttributes",
            "Sqs_VisibilityTimeout",
            "Sqs_Msa_ApproximateReceiveCount",
            "x");

    /**
     * Classes that a sender may name: existing, missing and abstract ones, arrays, and files that contain another
     * class.
     */
    private static final List<String> TYPES = List.of(
            "java.lang.String",
            "java.lang.Runtime",
            "java.util.Map",
            "[Ljava.lang.String;",
            "[[[I",
            "int",
            "module-info",
            "META-INF.versions.9.module-info",
            "META-INF.versions.11.org.postgresql.Driver",
            "../../etc/passwd",
            "io/exactlyonce/Claim",
            "io.exactlyonce.test.kit.HostileDeliveriesTests$Order",
            "io.exactlyonce.test.kit.HostileDeliveriesTests$Note",
            "x".repeat(70_000));

    /** All characters that SQS allows in the ids of groups and messages. */
    private static final String ID_CHARACTERS = "abcXYZ019!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

    private static final JsonMapper JSON =
            JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

    /** Returns letters, some of which have nearly equal keys. */
    public static List<HostileLetter> several(RandomGenerator random, List<String> queues, int most) {
        return HostileText.several(random, 1 + random.nextInt(most)).stream()
                .map(key -> any(random, HostileText.pick(random, queues), key))
                .toList();
    }

    private static HostileLetter any(RandomGenerator random, String queue, String key) {
        Map<String, Object> attributes = attributes(random);
        String group = group(random);
        if (queue.equals("attributes")) {
            attributes.put(KEY_ATTRIBUTE, key);
            return new HostileLetter(queue, HostileText.any(random) + "x", attributes, group, key);
        }
        if (random.nextInt(3) == 0) {
            return new HostileLetter(queue, unreadable(random, key), attributes, group, null);
        }
        String order = order(random, key);
        return new HostileLetter(queue, queue.equals("notes") ? envelope(order) : order, attributes, group, key);
    }

    private static String order(RandomGenerator random, String key) {
        Map<String, Object> order = new LinkedHashMap<>();
        order.put("orderId", key);
        order.put("extra", random.nextInt(20) == 0 ? HostileText.any(random).repeat(1_000) : HostileText.any(random));
        order.put("unknown", HostileText.SECRET + "\n" + HostileText.FORGED);
        return JSON.writeValueAsString(order);
    }

    private static String envelope(String message) {
        return JSON.writeValueAsString(
                Map.of("Type", "Notification", "Message", message, "MessageId", "m", "Timestamp", HostileText.FORGED));
    }

    /** Returns a body that a listener usually cannot read. */
    private static String unreadable(RandomGenerator random, String key) {
        String text = JSON.writeValueAsString(key);
        String order = order(random, key);
        return switch (random.nextInt(12)) {
            case 0 -> "{\"orderId\":%s}".formatted(value(random));
            case 1 -> "{\"orderId\":%s,\"extra\":%s}".formatted(text, value(random));
            case 2 -> "{\"orderId\":%s,\"orderId\":%s}".formatted(text, value(random));
            case 3 -> "[".repeat(depth(random)) + "]".repeat(depth(random));
            case 4 -> "{\"extra\":".repeat(depth(random)) + text;
            case 5 -> envelope(envelope(order));
            case 6 ->
                "{\"Type\":\"Notification\",\"Message\":%s,\"Message\":%s}"
                        .formatted(JSON.writeValueAsString(order), value(random));
            case 7 -> "{\"Type\":%s,\"Message\":%s}".formatted(text, value(random));
            case 8 -> order.substring(0, random.nextInt(order.length()));
            case 9 -> "{%s:%s}".formatted(text, text);
            case 10 -> "{\"orderId\":%s,\"x\":\"%s\"}".formatted(text, "\\u0000".repeat(150_000));
            default -> key;
        };
    }

    private static String value(RandomGenerator random) {
        return HostileText.pick(
                random,
                List.of(
                        "null",
                        "1",
                        "-0.0",
                        "1e400",
                        "1e1000000000",
                        "9".repeat(2_000),
                        "true",
                        "[]",
                        "{}",
                        "{\"@class\":\"java.lang.Runtime\"}",
                        "[\"%s\\n%s\"]".formatted(HostileText.SECRET, HostileText.FORGED),
                        "\"%s\\n%s\"".formatted(HostileText.SECRET, HostileText.FORGED)));
    }

    /** Returns a depth near the 500 levels that Jackson reads, or far beyond. */
    private static int depth(RandomGenerator random) {
        return HostileText.pick(random, List.of(1, 498, 499, 500, 501, 1_000, 50_000));
    }

    private static Map<String, Object> attributes(RandomGenerator random) {
        Map<String, Object> attributes = new LinkedHashMap<>();
        int count = random.nextInt(3) == 0 ? MOST_ATTRIBUTES - 1 : random.nextInt(3);
        Stream.generate(() -> HostileText.pick(random, NAMES)).limit(count).forEach(name -> {
            boolean isType = name.equals("JavaType") && random.nextInt(4) > 0;
            attributes.put(name, isType ? HostileText.pick(random, TYPES) : attribute(random));
        });
        return attributes;
    }

    private static Object attribute(RandomGenerator random) {
        return switch (random.nextInt(4)) {
            case 0 -> HostileText.pick(random, List.<Number>of(0, -1L, 1e308, Long.MIN_VALUE));
            case 1 -> new byte[random.nextInt(3)];
            default -> HostileText.any(random);
        };
    }

    private static String group(RandomGenerator random) {
        int length = HostileText.pick(random, List.of(1, 2, 128));
        return random.ints(length, 0, ID_CHARACTERS.length())
                .mapToObj(at -> String.valueOf(ID_CHARACTERS.charAt(at)))
                .reduce("", String::concat);
    }

    @Override
    public String toString() {
        List<String> shown = new ArrayList<>();
        attributes.forEach((name, value) -> shown.add(name + "="
                + (value instanceof byte[] bytes
                        ? bytes.length + " bytes"
                        : HostileText.shown(String.valueOf(value)))));
        return "to %s: %s, key %s, attributes %s"
                .formatted(queue, HostileText.shown(body), key == null ? "unknown" : HostileText.shown(key), shown);
    }
}
