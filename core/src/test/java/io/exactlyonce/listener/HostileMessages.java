package io.exactlyonce.listener;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import tools.jackson.databind.json.JsonMapper;

/** Messages of an attacker. The same seed creates the same messages. */
public final class HostileMessages {

    /** The beginning of a line that an attacker tries to forge. No log line may begin with this text. */
    static final String FORGED = "FORGED 2031-01-01 INFO all is well";

    /** A secret in keys and bodies. No log, meter or exception may show this text. */
    static final String SECRET = "4111-1111-1111";

    /** The system property that the initializer of {@link Harm} sets. */
    public static final String HARMED = "hostile.harmed";

    /**
     * A class whose name senders put wherever a message can name a class. {@link #HARMED} shows whether the class was
     * loaded.
     */
    static final class Harm {
        static {
            System.setProperty(HARMED, "true");
        }
    }

    private static final String HARM = Harm.class.getName();
    private static final int MOST_ATTRIBUTES = 10;
    private static final JsonMapper JSON = new JsonMapper();

    private static final List<String> TEXTS = List.of(
            "",
            " ",
            "\t\n",
            "\r\n" + FORGED,
            SECRET + "\n" + FORGED + "\n" + SECRET,
            "\u2028" + FORGED + "\u0085" + FORGED,
            "\u001B[2J\u001B[1;1H" + FORGED,
            "'; DROP TABLE exactly_once_claim; --",
            "' OR '1'='1",
            "{\"a\",NULL}",
            "\\\\x00\\",
            "T(java.lang.Class).forName('" + HARM + "')",
            "#{T(java.lang.Class).forName('" + HARM + "')}",
            "${jndi:ldap://127.0.0.1/x}${random.value}",
            "{}%s%n%1$s{0}",
            "../../etc/passwd",
            "payments/o1",
            "\u0000payments\u0000o1",
            "e\u0301\u0301\u0301\u200D",
            "\u202Eo1",
            "\uD83D\uDCE6".repeat(300),
            "\u6C34".repeat(512),
            "\uFFFE\uFFFF",
            "\uD83D",
            SECRET.repeat(100),
            "x".repeat(100_000));

    private static final List<String> NAMES = List.of("""
            ExactlyOnce-Key ExactlyOnce_ReceivedMessage JavaType contentType id timestamp replyChannel errorChannel
            nativeHeaders AcknowledgementCallback micrometer.observation traceparent tracestate baggage tenant
            Sqs_ReceiptHandle Sqs_SourceData Sqs_QueueName Sqs_QueueUrl Sqs_QueueAttributes Sqs_VisibilityTimeout
            Sqs_ReceivedAt Sqs_RawMessageId Sqs_Delay Sqs_Msa_ApproximateReceiveCount Sqs_Msa_MessageGroupId
            Sqs_Msa_SenderId spring.json x""".split("\\s+"));

    private final Random random;

    public HostileMessages(long seed) {
        this.random = new Random(seed);
    }

    /** Returns random text. The text may be blank, huge, or invalid for SQS. */
    String text() {
        if (random.nextInt(4) > 0) {
            return pick(TEXTS);
        }
        return random.ints(random.nextInt(40), 0, 0x20000)
                .filter(point -> point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    /** Returns the JSON of an order, a body that resembles an order, or random text. */
    public String body() {
        return this.<Supplier<String>>pick(List.of(
                        () -> order(JSON.writeValueAsString(text())),
                        () -> order(JSON.writeValueAsString(text())),
                        () -> order(oddValue()),
                        () -> order("\"k" + random.nextInt(20) + "\""),
                        () -> order("\"a\\ud83d" + random.nextInt() + "\""),
                        () -> order("\"a\\u0000" + random.nextInt() + "\""),
                        () -> "{\"@class\":\"%s\",\"orderId\":\"%d\"}".formatted(HARM, random.nextInt()),
                        () -> "[\"%s\",{\"orderId\":\"o\"}]".formatted(HARM),
                        () -> "[".repeat(depth()) + "]".repeat(3),
                        () -> "{\"extra\":".repeat(depth()),
                        () -> envelope(
                                pick(List.of("Notification", "Other", "\n" + FORGED)), order("\"" + number() + "\"")),
                        () -> envelope("Notification", text()),
                        this::text,
                        () -> allowed(text()) + "a"))
                .get();
    }

    /** Removes the characters that SQS does not accept. */
    static String allowed(String text) {
        return text.replaceAll("[^\\t\\n\\r\\x20-\\x{D7FF}\\x{E000}-\\x{FFFD}\\x{10000}-\\x{10FFFF}]", "");
    }

    private String order(String id) {
        return "{\"orderId\":%s,\"amount\":%s,\"extra\":%s,\"unknown\":%s}"
                .formatted(id, oddValue(), oddValue(), JSON.writeValueAsString(SECRET + "\n" + FORGED));
    }

    private String oddValue() {
        return pick(List.of(
                "null",
                "1",
                "-0.0",
                "1e400",
                "1e1000000000",
                "9".repeat(2_000),
                "true",
                "[]",
                "{}",
                "[\"%s\",{}]".formatted(HARM),
                "{\"@class\":\"%s\"}".formatted(HARM),
                "\"%s\\n%s\"".formatted(SECRET, FORGED)));
    }

    private static String envelope(String type, String message) {
        return JSON.writeValueAsString(
                Map.of("Type", type, "Message", message, "MessageId", "m", "Timestamp", FORGED, "Subject", SECRET));
    }

    private int depth() {
        return pick(List.of(10, 600, 30_000));
    }

    private int number() {
        return random.nextInt(1_000_000);
    }

    /** Returns at most as many attributes as SQS accepts. */
    public Map<String, MessageAttributeValue> attributes() {
        Map<String, MessageAttributeValue> attributes = new HashMap<>();
        int count = random.nextInt(MOST_ATTRIBUTES + 1);
        for (int i = 0; i < count; i++) {
            attributes.put(pick(NAMES), attribute());
        }
        return attributes;
    }

    /**
     * Creates a random attribute without malformed numbers and blank values, because a server refuses these before the
     * library reads the message.
     */
    private MessageAttributeValue attribute() {
        String type = pick(List.of(
                "String",
                "String",
                "String.x",
                "Number",
                "Number.int",
                "Number.java.lang.Long",
                "Number." + HARM,
                "Binary"));
        var attribute = MessageAttributeValue.builder().dataType(type);
        if (type.startsWith("Binary")) {
            return attribute
                    .binaryValue(SdkBytes.fromString(text() + "b", StandardCharsets.UTF_8))
                    .build();
        }
        if (type.startsWith("Number")) {
            return attribute.stringValue(pick(List.of("7", "-0", "1E+126"))).build();
        }
        return attribute
                .stringValue(random.nextInt(3) == 0 ? HARM : allowed(text()) + "a")
                .build();
    }

    private <T> T pick(List<T> all) {
        return all.get(random.nextInt(all.size()));
    }

    /** Returns the lines of a text that begin with {@link #FORGED} or contain {@link #SECRET}. */
    public static List<String> leaksIn(String text) {
        return Arrays.stream(text.split("\\R"))
                .filter(line -> line.startsWith(FORGED) || line.contains(SECRET))
                .toList();
    }
}
