package io.exactlyonce.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonValue;
import io.exactlyonce.ExactlyOnceOperations;
import io.exactlyonce.StoredResultException;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import java.io.InputStream;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.Temporal;
import java.util.Collection;
import java.util.Date;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.ParameterizedTypeReference;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests results of every kind. All callers get equal results, or their calls fail. */
class StoredResultKindsTests {

    record Line(String sku, BigDecimal price) {}

    record Quote(List<Line> lines, Map<String, Long> counts) {}

    /** A type whose declaration does not show the class of the component {@code total}. */
    record Loose(Object total, Number count) {}

    record Drawing(Shape shape) {}

    interface Shape {}

    sealed interface Figure permits Circle, Square {}

    record Circle(int radius) implements Figure, Shape {}

    record Square(int side) implements Figure, Shape {}

    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
    @JsonSubTypes({@JsonSubTypes.Type(Cash.class), @JsonSubTypes.Type(Card.class)})
    sealed interface Payment permits Cash, Card {}

    record Cash(int amount) implements Payment {}

    record Card(String number) implements Payment {}

    record Page<T>(List<T> content) {}

    abstract static class Base {}

    record OrderId(@JsonValue String value) {}

    enum Level {
        LOW,
        HIGH {
            @Override
            int rank() {
                return 2;
            }
        };

        int rank() {
            return 1;
        }
    }

    static class Account {
        public String id = "";

        @JsonIgnore
        public String secret = "";

        public transient String cached = "";
    }

    static class Premium extends Account {
        public int limit = 7;
    }

    /** Jackson finds no constructor or creator that can make this type. */
    static final class Sealed {
        private final String id;

        private Sealed(String id, boolean made) {
            this.id = made ? id : "";
        }

        static Sealed of(String id) {
            return new Sealed(id, true);
        }

        public String getId() {
            return id;
        }
    }

    static class Node {
        public @Nullable Node self;
    }

    private final AtomicInteger runs = new AtomicInteger();

    private void withOperations(Consumer<ExactlyOnceOperations> test) {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(JacksonAutoConfiguration.class, ExactlyOnceAutoConfiguration.class))
                .withBean(InMemoryClaimStore.class)
                .run(context -> test.accept(context.getBean(ExactlyOnceOperations.class)));
    }

    private <T> @Nullable T execute(ExactlyOnceOperations operations, Class<T> type, @Nullable Object result) {
        return execute(operations, ParameterizedTypeReference.forType(type), result);
    }

    private <T> @Nullable T execute(
            ExactlyOnceOperations operations, ParameterizedTypeReference<T> type, @Nullable Object result) {
        return operations.once("quotes", "q1").call(type, claim -> {
            runs.incrementAndGet();
            return cast(result);
        });
    }

    @SuppressWarnings("unchecked") // The caller chooses the type.
    private static <T> @Nullable T cast(@Nullable Object result) {
        return (T) result;
    }

    static List<Arguments> results() {
        Premium premium = new Premium();
        premium.id = "a1";
        premium.secret = "s";
        premium.cached = "c";
        ZonedDateTime berlin = ZonedDateTime.of(2026, 10, 25, 2, 30, 0, 123_456_789, ZoneId.of("Europe/Berlin"));
        return List.of(
                Arguments.of(ZonedDateTime.class, berlin),
                Arguments.of(OffsetDateTime.class, berlin.toOffsetDateTime()),
                Arguments.of(Instant.class, berlin.toInstant()),
                Arguments.of(LocalDate.class, berlin.toLocalDate()),
                Arguments.of(Date.class, Date.from(berlin.toInstant())),
                Arguments.of(Duration.class, Duration.ofNanos(1)),
                Arguments.of(BigDecimal.class, new BigDecimal("1.00")),
                Arguments.of(BigDecimal.class, new BigDecimal("1E+3")),
                Arguments.of(BigInteger.class, BigInteger.TEN.pow(30)),
                Arguments.of(Long.class, 7L),
                Arguments.of(long.class, 7L),
                Arguments.of(Double.class, Double.NaN),
                Arguments.of(Float.class, Float.NEGATIVE_INFINITY),
                Arguments.of(Double.class, -0.0),
                Arguments.of(Float.class, 0.1f),
                Arguments.of(String.class, "\uD83D\uDCE6\0\uD83D"),
                Arguments.of(CharSequence.class, new StringBuilder("text")),
                Arguments.of(Character.class, 'x'),
                Arguments.of(Boolean.class, true),
                Arguments.of(UUID.class, new UUID(1, 2)),
                Arguments.of(byte[].class, new byte[] {0, -1}),
                Arguments.of(int[].class, new int[] {1, 2}),
                Arguments.of(Line[].class, new Line[] {new Line("s", BigDecimal.ONE)}),
                Arguments.of(Line[][].class, new Line[][] {{new Line("s", BigDecimal.ONE)}}),
                Arguments.of(Level.class, Level.HIGH),
                Arguments.of(OptionalInt.class, OptionalInt.of(3)),
                Arguments.of(OrderId.class, new OrderId("o1")),
                Arguments.of(Quote.class, new Quote(List.of(new Line("s", new BigDecimal("9.90"))), Map.of("s", 7L))),
                Arguments.of(Quote.class, new Quote(List.of(), new TreeMap<>())),
                Arguments.of(Loose.class, new Loose(new Line("s", new BigDecimal("9.90")), 7L)),
                Arguments.of(Loose.class, new Loose(Set.of(1L), new BigDecimal("1.00"))),
                Arguments.of(Account.class, premium),
                Arguments.of(Premium.class, premium),
                Arguments.of(Payment.class, new Card("4111")),
                Arguments.of(Circle.class, new Circle(3)),
                Arguments.of(JsonNode.class, new JsonMapper().readTree("{\"a\":1.00,\"b\":[1,null]}")),
                Arguments.of(JsonNode.class, null),
                Arguments.of(Line.class, null),
                Arguments.of(Void.class, null));
    }

    @ParameterizedTest
    @MethodSource("results")
    void bothCallersGetEqualResults(Class<?> type, @Nullable Object result) {
        withOperations(operations -> {
            Object first = execute(operations, type, result);
            Object second = execute(operations, type, result);

            assertThat(runs).hasValue(1);
            // AssertJ's comparison of numbers does not support NaN.
            assertThat(second)
                    .usingRecursiveComparison()
                    .withEqualsForType(Double::equals, Double.class)
                    .withEqualsForType(Float::equals, Float.class)
                    .isEqualTo(first);
            if (first != null && second != null) {
                assertThat(second).hasSameClassAs(first);
            }
        });
    }

    static List<Arguments> genericResults() {
        Line line = new Line("s", new BigDecimal("9.90"));
        return List.of(
                Arguments.of(new ParameterizedTypeReference<List<Line>>() {}, List.of(line)),
                Arguments.of(new ParameterizedTypeReference<List<? extends Line>>() {}, List.of(line)),
                Arguments.of(new ParameterizedTypeReference<List<Line>>() {}, List.of()),
                Arguments.of(new ParameterizedTypeReference<List<Line>>() {}, null),
                Arguments.of(new ParameterizedTypeReference<List<Line>[]>() {}, new List<?>[] {List.of(line)}),
                Arguments.of(new ParameterizedTypeReference<Set<Long>>() {}, Set.of(7L)),
                Arguments.of(
                        new ParameterizedTypeReference<Map<UUID, List<Line>>>() {},
                        Map.of(new UUID(1, 2), List.of(line))),
                Arguments.of(new ParameterizedTypeReference<Optional<Line>>() {}, Optional.of(line)),
                Arguments.of(new ParameterizedTypeReference<Optional<Line>>() {}, Optional.empty()),
                Arguments.of(new ParameterizedTypeReference<Page<Line>>() {}, new Page<>(List.of(line))),
                Arguments.of(new ParameterizedTypeReference<List<Payment>>() {}, List.of(new Card("4111"))),
                Arguments.of(new ParameterizedTypeReference<Line>() {}, line));
    }

    /** The elements have the declared type, and are not maps. */
    @ParameterizedTest
    @MethodSource("genericResults")
    void bothCallersGetEqualElements(ParameterizedTypeReference<?> type, @Nullable Object result) {
        withOperations(operations -> {
            Object first = execute(operations, type, result);
            Object second = execute(operations, type, result);

            assertThat(runs).hasValue(1);
            assertThat(first).isEqualTo(result);
            assertThat(second).isEqualTo(result);
        });
    }

    static List<ParameterizedTypeReference<?>> refusedGeneric() {
        return List.of(
                new ParameterizedTypeReference<List<Object>>() {},
                new ParameterizedTypeReference<List<?>>() {},
                new ParameterizedTypeReference<List<Shape>>() {},
                new ParameterizedTypeReference<List<Sealed>>() {},
                new ParameterizedTypeReference<Map<Line, String>>() {},
                new ParameterizedTypeReference<Map<String, Object>>() {},
                new ParameterizedTypeReference<Page<Runnable>>() {});
    }

    @ParameterizedTest
    @MethodSource("refusedGeneric")
    void typeWhoseElementsCannotBeReadBackIsRefusedBeforeTheAction(ParameterizedTypeReference<?> type) {
        withOperations(operations -> {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> execute(operations, type, null))
                    .withMessageContaining("The result type " + type.getType().getTypeName() + " cannot be stored");

            assertThat(runs).hasValue(0);
        });
    }

    static List<Class<?>> refused() {
        return List.of(
                List.class,
                Set.class,
                LinkedHashSet.class,
                Collection.class,
                Map.class,
                Optional.class,
                Page.class,
                Object.class,
                Number.class,
                Serializable.class,
                Comparable.class,
                List[].class,
                Object[].class,
                Shape.class,
                Shape[].class,
                Figure.class,
                Base.class,
                Sealed.class,
                Temporal.class,
                Runnable.class,
                InputStream.class);
    }

    @ParameterizedTest
    @MethodSource("refused")
    void typeThatDoesNotSayWhatItsValuesAreIsRefusedBeforeTheAction(Class<?> type) {
        withOperations(operations -> {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> execute(operations, type, null))
                    .withMessageContaining("The result type " + type.getTypeName() + " cannot be stored");

            assertThat(runs).hasValue(0);
            assertThat(execute(operations, Integer.class, 3)).isEqualTo(3);
        });
    }

    static List<Arguments> unreadable() {
        Node node = new Node();
        node.self = node;
        return List.of(
                Arguments.of(Node.class, node),
                Arguments.of(Drawing.class, new Drawing(new Circle(3))),
                Arguments.of(int.class, null));
    }

    /** The action has run, and does not run again. No caller gets a result that a later caller would not get. */
    @ParameterizedTest
    @MethodSource("unreadable")
    void resultThatCannotBeReadBackFailsBothCalls(Class<?> type, @Nullable Object result) {
        withOperations(operations -> {
            for (int call = 0; call < 2; call++) {
                assertThatThrownBy(() -> execute(operations, type, result)).isInstanceOf(StoredResultException.class);
            }

            assertThat(runs).hasValue(1);
        });
    }

    @Test
    void payloadInAnotherLayoutIsTheSameRequest() {
        withOperations(operations -> {
            for (String payload :
                    List.of("{\"a\":1,\"b\":[2]}", "{ \"b\" : [2], \"a\" : 1 }\n", "\uFEFF{\"a\":1,\"b\":[2]}")) {
                operations.once("payments", "p1").comparing(payload).run(claim -> runs.incrementAndGet());
            }

            assertThat(runs).hasValue(1);
        });
    }
}
