package io.exactlyonce.listener.expression;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.claim.KeyRules;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerRig;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.expression.spel.support.MapAccessor;
import org.springframework.expression.spel.support.ReflectivePropertyAccessor;
import org.springframework.expression.spel.support.StandardEvaluationContext;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.Header;
import org.springframework.messaging.support.MessageBuilder;

/**
 * Compares refusals at startup with SpEL's results. If SpEL makes a usable key from any sample of the types, startup
 * must accept the expression.
 */
class ReadingAgainstSpelTests {

    enum Status {
        OPEN,
        CLOSED {
            @Override
            public String toString() {
                return "shut";
            }
        }
    }

    record OrderId(UUID value) {}

    record Customer(String name, @Nullable Status status) {

        public static final String PREFIX = "C-";

        public String label() {
            return PREFIX + name;
        }

        public String part(int index, String... others) {
            return name + index + others.length;
        }

        public static String of(Object any) {
            return "of-" + any;
        }
    }

    record Envelope<T>(String id, T body, List<T> all) {}

    @SuppressWarnings("ArrayRecordComponent")
    record Order(
            String orderId,
            OrderId id,
            Customer customer,
            Optional<Customer> referrer,
            Instant at,
            long cents,
            double price,
            BigDecimal amount,
            boolean isExpress,
            Status status,
            List<Customer> items,
            Map<String, Instant> times,
            String[] tags,
            Object any,
            Number number,
            CharSequence text,
            Comparable<?> comparable,
            Envelope<Customer> envelope) {

        public boolean isFragile() {
            return cents > 5;
        }

        public String getURL() {
            return "u" + cents;
        }
    }

    static class Parcel {

        public final String field = "F-1";

        public String getNumber() {
            return "P-1";
        }

        public Instant getAt() {
            return Instant.EPOCH;
        }

        public Object getContent() {
            return "content";
        }

        public Instant weight() {
            return Instant.EPOCH;
        }

        public Instant by(String how) {
            return Instant.EPOCH;
        }
    }

    /** A subclass that adds members and overrides members. */
    static class LabelledParcel extends Parcel {

        public String getLabel() {
            return "L-1";
        }

        public String getWeight() {
            return "3 kg";
        }

        public String by(Object how) {
            return "by";
        }

        @Override
        public UUID getContent() {
            return new UUID(1, 2);
        }
    }

    interface Event {
        String name();

        Instant getAt();
    }

    record Happened(String name) implements Event {
        @Override
        public Instant getAt() {
            return Instant.EPOCH;
        }
    }

    static final class Mapped extends HashMap<String, Object> implements Event {

        private static final long serialVersionUID = 1;

        Mapped() {
            put("name", "m");
            put("id", 7);
        }

        @Override
        public String name() {
            return "mapped";
        }

        @Override
        public Instant getAt() {
            return Instant.EPOCH;
        }
    }

    interface Handlers {
        void order(Order order, @Header(name = "value", required = false) Object value);

        void parcel(Parcel order, @Header(name = "value", required = false) Object value);

        void event(Event order, @Header(name = "value", required = false) Object value);

        void map(Map<String, Object> order, @Header(name = "value", required = false) Object value);

        void texts(List<String> payload);

        void parcels(List<Message<Parcel>> payload);

        void envelope(Message<Envelope<Order>> order, @Header(name = "value", required = false) Object value);

        void date(Date order, @Header(name = "value", required = false) Object value);
    }

    private static final Customer ANN = new Customer("Ann", Status.CLOSED);

    private static Order order(Object any) {
        return new Order(
                "A-1",
                new OrderId(new UUID(3, 4)),
                ANN,
                Optional.of(ANN),
                Instant.EPOCH,
                7,
                2.5,
                new BigDecimal("1.50"),
                true,
                Status.OPEN,
                List.of(ANN, new Customer("Bob", null)),
                Map.of("x", Instant.EPOCH),
                new String[] {"t1", "t2"},
                any,
                BigInteger.TEN,
                new StringBuilder("text"),
                "comparable",
                new Envelope<>("E-1", ANN, List.of(ANN)));
    }

    private static final Map<String, List<Object>> PAYLOADS = Map.of(
            "order", List.of(order("any"), order(ANN), order(List.of("a"))),
            "parcel", List.of(new Parcel(), new LabelledParcel()),
            "event", List.of(new Happened("h"), new Mapped()),
            "map", List.of(Map.of("orderId", "A-1", "customer", ANN, "empty", 1), new Mapped()),
            "texts", List.of("A-1"),
            "parcels", List.of(new Parcel(), new LabelledParcel()),
            "envelope", List.of(new Envelope<>("E-2", order("any"), List.of(order(1)))),
            "date", List.of(new Date(1)));

    private static final List<Object> VALUES = List.of("value", 3, ANN, Map.of("id", "V-1"), List.of("first"));

    private static final List<String> LINKS = List.of(
            ".orderId",
            ".ordrId",
            ".OrderId",
            ".id",
            ".id.value",
            ".customer",
            "?.customer",
            ".customer.name",
            "?.referrer",
            ".referrer",
            "?.referrer?.name",
            ".referrer.name",
            ".referrer.get()",
            "?.name",
            ".name",
            ".name()",
            ".at",
            ".getAt()",
            ".at.epochSecond",
            ".at.toEpochMilli()",
            ".cents",
            ".price",
            ".amount",
            ".express",
            ".isExpress",
            ".isExpress()",
            ".fragile",
            ".status",
            ".status.name()",
            ".items",
            ".items[0]",
            ".items[0].name",
            ".items['0'].name",
            ".items[name]",
            ".items.![name]",
            ".items.?[name == 'Ann']",
            ".items.^[name == 'Ann']",
            ".items.^[name == 'Ann'].name",
            ".items.$[status == null]?.name",
            ".items.![#this.name][0]",
            ".items.size()",
            ".items.length",
            ".items.empty",
            ".times",
            ".times.x",
            ".times['x']",
            ".times[x]",
            ".times.size()",
            ".times.empty",
            ".times.![key]",
            ".times.?[key == 'x']",
            ".tags",
            ".tags.length",
            ".tags[1]",
            ".tags.![#this]",
            ".tags.?[#this == 't1']",
            ".tags.^[true]",
            ".any",
            ".any.name",
            ".any[0]",
            ".any['name']",
            ".any.length()",
            ".number",
            ".number.intValue()",
            ".text",
            ".text.length()",
            ".text.toString()",
            ".comparable",
            ".envelope.body.name",
            ".envelope.body.at",
            ".envelope.all[0].name",
            ".envelope.all[0].at",
            ".body",
            ".body.orderId",
            ".body.at",
            ".all[0].orderId",
            ".payload",
            ".payload.id",
            ".payload.body.orderId",
            ".payload.body.ordrId",
            ".URL",
            ".url",
            ".getURL()",
            ".field",
            ".number()",
            ".content",
            ".getContent()",
            ".weight",
            ".weight()",
            ".by('x')",
            ".by(1)",
            ".label",
            ".getLabel()",
            ".label()",
            ".part(1)",
            ".part(1, 'a', 'b')",
            ".part()",
            ".part('x')",
            ".toString()",
            ".toString",
            ".hashCode()",
            ".class",
            ".getClass()",
            ".class.name",
            ".class.simpleName",
            ".length()",
            ".length",
            ".trim()",
            ".substring(0, 1)",
            ".substring(0)",
            ".substring()",
            ".concat('x')",
            ".equals('x')",
            ".isEmpty()",
            ".empty",
            "[0]",
            "['id']",
            "['orderId']",
            "['ordrId']",
            "[orderId]",
            "[id]",
            "['customer'].name",
            "?.['id']",
            ".get('id')",
            ".get(0)",
            ".size()",
            ".time",
            ".time()",
            ".getTime()",
            ".bytes",
            ".bytes[0]",
            ".value",
            ".value()",
            ".leastSignificantBits",
            ".intValue()",
            ".PREFIX",
            ".of('x')",
            ".?[true]",
            ".![#this]",
            ".^[true]",
            ".missing()",
            ".getOrderId()",
            ".ORDERID");

    private static final List<String> ROOTS =
            List.of("#order", "#payload", "#value", "#p0", "#message.payload", "#headers['value']", "#headers.value");

    private static final List<String> OPERATORS =
            List.of(" + ", " - ", " * ", " / ", " % ", " ^ ", " == ", " > ", " and ", " matches ", " + '/' + ");

    private static final List<String> TERMS = List.of(
            "1",
            "2L",
            "1.5",
            "'x'",
            "null",
            "true",
            "{1}",
            "T(java.time.Instant).EPOCH",
            "T(String).valueOf(#value)",
            "T(String)",
            "T(java.util.Objects).hash(#order)",
            "new String('x')",
            "{1, 2}[0]",
            "{1, #value}[1]",
            "{'value': #order}.value",
            "{1, 2}.?[#this == 1][0]",
            "{'a', 'b'}.^[#this == #value]",
            "'a'.concat(#value)");

    /**
     * Texts of refusals that other tests check. SpEL can compute a value for these expressions, but not a usable key
     * for every method and message.
     */
    private static final Set<String> OF_OTHER_TESTS = Set.of(
            "names the unknown argument",
            "of a method that takes batches",
            "does not parse",
            "reads only what messages share",
            "reads the header",
            "reads all of",
            "returns another value for a redelivery",
            "is another one in each JVM",
            "if a sender writes 1e30000000");

    private int refused;
    private int accepted;

    /** {@code -Dreading.all} combines all links, which takes minutes. */
    @ParameterizedTest
    @ValueSource(strings = {"order", "parcel", "event", "map", "texts", "parcels", "envelope", "date"})
    void linkIsRefusedOnlyIfItsValueIsNeverAKey(String handler) {
        List<String> seconds = Boolean.getBoolean("reading.all") ? LINKS : List.of();
        for (String root : ROOTS) {
            check(handler, root);
            for (String first : LINKS) {
                check(handler, root + first);
                seconds.forEach(second -> check(handler, root + first + second));
            }
        }
        assertThat(refused).isPositive();
        assertThat(accepted).isPositive();
    }

    /** {@code -Dreading.seed=...} repeats a run, and {@code -Dreading.number=...} makes a run longer. */
    @Test
    void expressionIsRefusedOnlyIfItsValueIsNeverAKey() {
        long seed = Long.getLong("reading.seed", System.nanoTime());
        Random random = new Random(seed);
        List<String> handlers = PAYLOADS.keySet().stream().sorted().toList();
        for (int number = Integer.getInteger("reading.number", 2_000); number > 0; number--) {
            String expression = term(random);
            if (random.nextBoolean()) {
                expression += OPERATORS.get(random.nextInt(OPERATORS.size())) + term(random);
            }
            check(handlers.get(random.nextInt(handlers.size())), expression, "reading.seed=" + seed);
        }
        assertThat(refused).isPositive();
        assertThat(accepted).isPositive();
    }

    private static String term(Random random) {
        if (random.nextInt(8) == 0) {
            return TERMS.get(random.nextInt(TERMS.size()));
        }
        StringBuilder term = new StringBuilder(ROOTS.get(random.nextInt(ROOTS.size())));
        for (int links = random.nextInt(4); links > 0; links--) {
            term.append(LINKS.get(random.nextInt(LINKS.size())));
        }
        return term.toString();
    }

    private void check(String handler, String text, Object... context) {
        Method method = ListenerRig.method(Handlers.class, handler);
        try {
            ListenerRig.key(text, method);
            accepted++;
        } catch (InvalidListenerException invalid) {
            refused++;
            int most = invalid.problem().contains("does not depend on the message") ? 1 : 0;
            if (OF_OTHER_TESTS.stream().noneMatch(invalid.problem()::contains)) {
                assertThat(keys(text, method, handler))
                        .as("%s, of %s %s, is refused: %s", text, handler, List.of(context), invalid.problem())
                        .hasSizeLessThanOrEqualTo(most);
            }
        }
    }

    /** Returns the keys that SpEL computes from the samples. */
    private static Set<String> keys(String text, Method method, String handler) {
        Set<String> keys = new HashSet<>();
        Expression expression = new SpelExpressionParser().parseRaw(text);
        for (Object payload : PAYLOADS.getOrDefault(handler, List.of())) {
            for (Object value : VALUES) {
                Message<?> message = MessageBuilder.withPayload(payload)
                        .setHeader("value", value)
                        .build();
                try {
                    keys.add(KeyRules.toKey("key", expression.getValue(context(method, message))));
                } catch (RuntimeException unusable) {
                    // Most expressions have no usable key for a sample.
                }
            }
        }
        return keys;
    }

    private static StandardEvaluationContext context(Method method, Message<?> message) {
        StandardEvaluationContext context = new StandardEvaluationContext();
        context.setPropertyAccessors(List.of(new MapAccessor(), new ReflectivePropertyAccessor()));
        HandlerArguments arguments = ListenerRig.arguments(method);
        for (String name : List.of("order", "value", "p0", "payload", "message", "headers")) {
            try {
                context.setVariable(
                        name, arguments.argument(name, "test").value().of(message));
            } catch (InvalidListenerException absent) {
                // A method that takes batches has no variables for its arguments.
            }
        }
        return context;
    }
}
