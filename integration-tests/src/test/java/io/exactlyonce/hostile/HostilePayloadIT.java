package io.exactlyonce.hostile;

import static io.exactlyonce.testing.wire.HostileAnswers.attribute;
import static io.exactlyonce.testing.wire.HostileAnswers.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.awspring.cloud.sqs.annotation.SnsNotificationMessage;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.boundary.Boundary;
import io.exactlyonce.listener.CapturedLog;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.wire.Trouble;
import io.exactlyonce.testing.wire.Troubles;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * Messages that are made to be expensive or to pass for something else, beside those that {@code HostileInputIT} draws. Whatever
 * becomes of one, the message behind it is handled soon, and neither the log nor the meters have its text.
 */
class HostilePayloadIT {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final JsonMapper JSON = new JsonMapper();
    private static final String FORGED = "told\nFORGED\u0085\u001b[2J\u202e";
    private static final String SECRET = "4111-1111";
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}\u202e&&[^\\r\\n\\t]]");

    private static final Troubles TROUBLES = new Troubles(SqsServer.elasticMq());
    private static final SqsServer SQS = SqsServer.through(TROUBLES);
    private static final Map<String, String> QUEUES = new HashMap<>();
    private static final Map<String, AtomicInteger> CALLS = new ConcurrentHashMap<>();
    private static final AtomicInteger NUMBER = new AtomicInteger();

    private static TestApplication application;
    private static CapturedLog log;

    record Order(
            @Nullable String id,
            @Nullable BigDecimal amount,
            @Nullable Object extra) {}

    /** A message for one listener, and the server's change to it on the way. */
    record Case(
            String name,
            String queue,
            String body,
            Map<String, String> attributes,
            @Nullable Trouble trouble) {

        Case(String name, String queue, String body) {
            this(name, queue, body, Map.of(), null);
        }

        Case(String name, String attribute, String value, boolean sent) {
            this(name, "orders", order("odd " + name), Map.of(attribute, value), null);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static class Listeners {

        private static void call(String listener, @Nullable Object key) {
            CALLS.computeIfAbsent(listener + " " + key, first -> new AtomicInteger())
                    .incrementAndGet();
        }

        @ExactlyOnceListener(id = "orders", queueNames = "${test.orders}", key = "#order.id")
        void handle(Order order) {
            call("orders", order.id());
        }

        @ExactlyOnceListener(id = "amounts", queueNames = "${test.amounts}", key = "#order.amount")
        void handleAmount(Order order) {
            call("amounts", order.id());
        }

        @ExactlyOnceListener(
                id = "compared",
                queueNames = "${test.compared}",
                key = "#order.id",
                fingerprint = "{#order.amount, #order.id}")
        void handleCompared(Order order) {
            call("compared", order.id());
        }

        @ExactlyOnceListener(id = "notes", queueNames = "${test.notes}", key = "#order.id")
        void handleNote(@SnsNotificationMessage Order order) {
            call("notes", order.id());
        }

        @ExactlyOnceListener(id = "texts", queueNames = "${test.texts}")
        void handleText(String text) {
            call("texts", text);
        }
    }

    @BeforeAll
    static void start() {
        Map<String, String> properties = new HashMap<>(SQS.properties());
        for (String listener : List.of("orders", "amounts", "compared", "notes", "texts")) {
            QUEUES.put(listener, SQS.createQueue(20));
            properties.put("test." + listener, QUEUES.get(listener));
        }
        properties.put("spring.cloud.aws.sqs.observation-enabled", "true");
        application = TestApplication.start(EmbeddedDatabase.shared().createDatabase(), properties, Listeners.class);
        log = new CapturedLog();
    }

    @AfterAll
    static void stop() {
        log.close();
        application.close();
    }

    private static String order(String id) {
        return "{\"id\":\"%s\",\"extra\":\"%s\"}".formatted(id, SECRET);
    }

    private static String amount(String amount) {
        return "{\"id\":\"%s\",\"amount\":%s}".formatted(amount.substring(0, Math.min(20, amount.length())), amount);
    }

    /** Names whose hashes are all equal. */
    private static String collisions() {
        int most = 12;
        String names = IntStream.range(0, 1 << most)
                .mapToObj(number -> IntStream.range(0, most)
                        .mapToObj(bit -> (number >> bit & 1) == 0 ? "Aa" : "BB")
                        .collect(Collectors.joining()))
                .map(name -> "\"" + name + "\":1")
                .collect(Collectors.joining(","));
        return "{\"id\":\"collisions\",\"extra\":{" + names + "}}";
    }

    /** Objects in each other, whose fields are all in the wrong order. */
    private static String unsorted(int levels, int width) {
        String fields = IntStream.range(0, width)
                .mapToObj(number -> "\"b%05d\":1,".formatted(width - number))
                .collect(Collectors.joining());
        return "{\"id\":\"unsorted\",\"extra\":" + ("{" + fields + "\"a\":").repeat(levels) + "1" + "}".repeat(levels)
                + "}";
    }

    private static String envelopes(int levels) {
        String body = order("enveloped");
        for (int level = 0; level < levels; level++) {
            body = envelope(body);
        }
        return body;
    }

    private static String envelope(String message) {
        return JSON.writeValueAsString(
                Map.of("Type", "Notification", "Message", message, "MessageId", "m", "TopicArn", "arn:aws:sns:x:1:t"));
    }

    private static Trouble attributes(int count, String name, String value) {
        List<String> names = IntStream.range(0, count)
                .mapToObj(number -> number == 0 ? name : name + number)
                .sorted()
                .toList();
        return message(message -> {
            ObjectNode attributes = message.putObject("MessageAttributes");
            names.forEach(
                    each -> attributes.putObject(each).put("DataType", "String").put("StringValue", value));
            message.put("MD5OfMessageAttributes", checksum(names, "String", value.getBytes(StandardCharsets.UTF_8)));
        });
    }

    /** Returns the checksum that the SDK expects of attributes with one value, as SQS documents it. */
    private static String checksum(List<String> names, String type, byte[] value) {
        try {
            MessageDigest digest = MessageDigest.getInstance("MD5");
            for (String name : names) {
                add(digest, name.getBytes(StandardCharsets.UTF_8));
                add(digest, type.getBytes(StandardCharsets.UTF_8));
                digest.update((byte) (type.equals("Binary") ? 2 : 1));
                add(digest, value);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing);
        }
    }

    private static void add(MessageDigest digest, byte[] part) {
        digest.update(ByteBuffer.allocate(4).putInt(part.length).array());
        digest.update(part);
    }

    private static Trouble binary(int bytes) {
        byte[] value = new byte[bytes];
        return message(message -> {
            message.putObject("MessageAttributes")
                    .putObject("large")
                    .put("DataType", "Binary")
                    .put("BinaryValue", Base64.getEncoder().encodeToString(value));
            message.put("MD5OfMessageAttributes", checksum(List.of("large"), "Binary", value));
        });
    }

    private static Case changed(String name, Trouble trouble) {
        return new Case(name, "orders", order("odd " + name), Map.of(), trouble);
    }

    static Stream<Case> cases() {
        String parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        return Stream.of(
                new Case("number of a billion digits", "amounts", amount("1e1000000000")),
                new Case("number of a billion places", "amounts", amount("1e-1000000000")),
                new Case("number beyond exponents", "amounts", amount("1e99999999999")),
                new Case("number of 200,000 digits", "amounts", amount("9".repeat(200_000))),
                new Case("number of 900 digits and exponent", "amounts", amount("9".repeat(900) + "e500000000")),
                new Case("compared number", "compared", amount("1e1000000000")),
                new Case("fields of one hash", "orders", collisions()),
                new Case("unsorted fields in each other", "orders", unsorted(400, 40)),
                new Case("unsorted fields beside each other", "orders", unsorted(1, 20_000)),
                new Case(
                        "100,000 levels",
                        "orders",
                        "{\"id\":\"deep\",\"extra\":" + "[".repeat(100_000) + "]".repeat(100_000) + "}"),
                new Case("fields twice", "orders", "{\"id\":\"first\",\"id\":\"second\",\"\\u0069d\":\"third\"}"),
                new Case("NUL in a key", "orders", "{\"id\":\"a\\u0000b\"}"),
                new Case("text with BOM", "orders", "\ufeff" + order("bom")),
                new Case("gzip bomb", "orders", "H4sIAAAAAAAAA" + "A".repeat(200_000)),
                new Case("envelopes in each other", "notes", envelopes(12)),
                new Case("envelope of an envelope's text", "notes", envelope(JSON.writeValueAsString(envelope("{}")))),
                new Case(
                        "external entity",
                        "orders",
                        "<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>"),
                new Case("class of 100,000 brackets", "JavaType", "java.util.ArrayList<".repeat(5_000), true),
                new Case("array of 255 dimensions", "JavaType", "[".repeat(255) + "Ljava.lang.Object;", true),
                new Case("type of serialized objects", "contentType", "application/x-java-serialized-object", true),
                new Case("type of 30,000 parameters", "contentType", "application/json" + ";x=y".repeat(30_000), true),
                new Case("unknown character set", "contentType", "application/json;charset=" + SECRET, true),
                new Case("type of UTF-16", "contentType", "text/plain;charset=UTF-16", true),
                new Case("trace of 100 kB", "traceparent", parent + "-" + "f".repeat(100_000), true),
                new Case("baggage of 100 kB", "baggage", "a=b,".repeat(25_000), true),
                new Case("reply elsewhere", "replyChannel", "#{T(java.lang.Runtime).getRuntime()}", true),
                new Case(
                        "key of SpEL",
                        "texts",
                        "spel",
                        Map.of("ExactlyOnce-Key", "#{T(java.lang.System).exit(1)}"),
                        null),
                new Case("key of 200 kB", "texts", "long", Map.of("ExactlyOnce-Key", "k".repeat(200_000)), null),
                changed("10,000 attributes", attributes(10_000, "name", SECRET)),
                changed("10 MB of bytes", binary(10_000_000)),
                changed("name of lines", attributes(1, FORGED, FORGED)),
                changed("name that passes for a header", attributes(1, "Sqs\u200b_ReceiptHandle", "forged")),
                changed("name of another case", attributes(1, "sqs_receipthandle", "forged")),
                changed("group of lines", attribute("MessageGroupId", FORGED)),
                changed("AWS trace of 100 kB", attribute("AWSTraceHeader", "Root=" + FORGED.repeat(10_000))),
                changed("system attribute of another name", attribute(FORGED, FORGED)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("cases")
    void messageBehindIsHandledSoon(Case each) {
        int start = log.text().length();
        int crashes = Boundary.crashes();
        Set<Meter.Id> meters = meters();
        String queue = QUEUES.get(each.queue());
        if (each.trouble() != null) {
            TROUBLES.next(queue, "ReceiveMessage", each.trouble());
        }
        Map<String, MessageAttributeValue> attributes = new HashMap<>();
        each.attributes()
                .forEach((name, value) -> attributes.put(
                        name,
                        MessageAttributeValue.builder()
                                .dataType("String")
                                .stringValue(value)
                                .build()));
        SQS.client()
                .sendMessage(request -> request.queueUrl(SQS.urlOf(queue))
                        .messageBody(each.body())
                        .messageAttributes(attributes));
        await(each.name()).atMost(SOON).until(() -> SQS.visible(queue) == 0);
        String genuine = "genuine " + NUMBER.incrementAndGet();
        SQS.send(queue, genuineBody(each.queue(), genuine));

        await(each.name()).atMost(SOON).until(() -> CALLS.containsKey(each.queue() + " " + genuine));
        assertThat(CALLS.values()).extracting(AtomicInteger::get).containsOnly(1);
        assertThat(Boundary.crashes()).isEqualTo(crashes);
        assertThat(application.container(each.queue()).isRunning()).isTrue();
        String logged = log.text().substring(start);
        assertThat(logged.lines())
                .noneMatch(line -> line.startsWith("FORGED"))
                .noneMatch(line -> UNPRINTABLE.matcher(line).find())
                .allMatch(line -> line.length() < 20_000);
        assertThat(logged).doesNotContain(SECRET, "java.lang.Runtime", "genuine");
        assertThat(meters().stream().filter(meter -> !meters.contains(meter)).map(Meter.Id::toString))
                .noneMatch(meter -> meter.contains("FORGED") || meter.contains(SECRET) || meter.contains("odd "));
    }

    private static Set<Meter.Id> meters() {
        return application.bean(MeterRegistry.class).getMeters().stream()
                .map(Meter::getId)
                .collect(Collectors.toSet());
    }

    private static String genuineBody(String listener, String id) {
        return switch (listener) {
            case "texts" -> id;
            case "notes" -> envelope(order(id));
            default -> "{\"id\":\"%s\",\"amount\":%d}".formatted(id, NUMBER.get());
        };
    }
}
