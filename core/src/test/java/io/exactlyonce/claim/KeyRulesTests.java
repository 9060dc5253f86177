package io.exactlyonce.claim;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.UnusableKeyException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class KeyRulesTests {

    enum Season {
        SUMMER {
            @Override
            public String toString() {
                return "warm";
            }
        }
    }

    static Stream<Arguments> textNumbersUuidsAndEnumConstantsAreTakenByTheirText() {
        UUID uuid = UUID.fromString("123e4567-e89b-12d3-a456-426614174000");
        return Stream.of(
                Arguments.of(" A-1 ", " A-1 "),
                Arguments.of(new StringBuilder("A-1"), "A-1"),
                Arguments.of("\uD83D\uDCE6", "\uD83D\uDCE6"),
                Arguments.of(42, "42"),
                Arguments.of(42L, "42"),
                Arguments.of(new AtomicLong(42), "42"),
                Arguments.of(new BigInteger("9".repeat(40)), "9".repeat(40)),
                Arguments.of(new BigDecimal("42"), "42"),
                Arguments.of(new BigDecimal("42.00"), "42"),
                Arguments.of(new BigDecimal("4.2E+3"), "4200"),
                Arguments.of(new BigDecimal("1.50"), "1.5"),
                Arguments.of(new BigDecimal("-0.010"), "-0.01"),
                Arguments.of(new BigDecimal("0.000"), "0"),
                Arguments.of(new BigDecimal("1e400"), "1" + "0".repeat(400)),
                Arguments.of(new BigDecimal("10e2000000000"), "1E+2000000001"),
                Arguments.of(new BigDecimal("1e-2000000000"), "1E-2000000000"),
                Arguments.of(uuid, "123e4567-e89b-12d3-a456-426614174000"),
                Arguments.of(Season.SUMMER, "SUMMER"));
    }

    @ParameterizedTest
    @MethodSource
    void textNumbersUuidsAndEnumConstantsAreTakenByTheirText(Object value, String key) {
        assertThat(KeyRules.toKey("key", value)).isEqualTo(key);
    }

    static Stream<Arguments> contentIsComparedByItsTextAndThatOfAListsEntries() {
        return Stream.of(
                Arguments.of("", ""),
                Arguments.of(new BigDecimal("1.50"), "1.5"),
                Arguments.of(0.1, "0.1"),
                Arguments.of(List.of(2.5f), "3:2.5"),
                Arguments.of(Season.SUMMER, "SUMMER"),
                Arguments.of(List.of(), ""),
                Arguments.of(List.of("a", 1), "1:a1:1"),
                Arguments.of(List.of("a1", ""), "2:a10:"),
                Arguments.of(Arrays.asList(null, List.of("a")), "-1:3:1:a"),
                Arguments.of("x".repeat(600), "x".repeat(600)));
    }

    @ParameterizedTest
    @MethodSource
    void contentIsComparedByItsTextAndThatOfAListsEntries(Object value, String text) {
        assertThat(KeyRules.toFingerprint("content", value)).isEqualTo(text);
    }

    @Test
    void contentWhoseTextMayBeAnotherInEachJvmIsRefused() {
        assertThatThrownBy(() -> KeyRules.toFingerprint("content", null))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessage("content is null; name what all messages of a key have in common");
        assertThatThrownBy(() -> KeyRules.toFingerprint("content", List.of(new byte[] {1})))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageStartingWith("content is a [B; it must be text");
    }

    static Stream<Arguments> valueThatIsNoKeyIsRefusedWithoutBeingShown() {
        return Stream.of(
                Arguments.of(null, "is null; every message needs its own key"),
                Arguments.of("", "is blank"),
                Arguments.of("\t\n\u2003", "is blank"),
                Arguments.of("A\0secret", "NUL"),
                Arguments.of("secret\uD83D", "surrogate"),
                Arguments.of("secret\uDCE6", "surrogate"),
                Arguments.of(List.of("secret"), "must be text, a number, a UUID or an enum constant"),
                Arguments.of(new byte[] {1}, byte[].class.getName()),
                Arguments.of('x', "java.lang.Character"),
                Arguments.of(true, "java.lang.Boolean"),
                Arguments.of(Double.parseDouble("1e400"), "is a java.lang.Double, whose text is rounded"),
                Arguments.of(0.1f, "is a java.lang.Float, whose text is rounded"));
    }

    @Test
    void typesThatCanBeKeysAreThoseWhoseValuesAreAccepted() {
        List<Object> values = List.of(
                "a",
                new StringBuilder("a"),
                1,
                1L,
                (short) 1,
                (byte) 1,
                BigInteger.ONE,
                BigDecimal.ONE,
                new AtomicLong(),
                1.5,
                1.5f,
                new UUID(1, 2),
                Season.SUMMER,
                'x',
                true,
                List.of("a"),
                List.of(),
                Map.of(),
                new Object(),
                Instant.EPOCH,
                new byte[] {1},
                Optional.of("a"),
                Thread.State.NEW);

        for (Object value : values) {
            Class<?> type = value.getClass();
            assertThat(KeyRules.canBeKey(type))
                    .as("%s", type)
                    .isEqualTo(isAccepted(() -> KeyRules.toKey("key", value)));
            assertThat(KeyRules.canBeFingerprint(type))
                    .as("%s", type)
                    .isEqualTo(isAccepted(() -> KeyRules.toFingerprint("content", value)));
        }
    }

    private static boolean isAccepted(Supplier<String> text) {
        try {
            text.get();
            return true;
        } catch (UnusableKeyException refused) {
            return false;
        }
    }

    @ParameterizedTest
    @MethodSource
    void valueThatIsNoKeyIsRefusedWithoutBeingShown(@Nullable Object value, String told) {
        assertThatThrownBy(() -> KeyRules.toKey("The key", value))
                .isInstanceOf(UnusableKeyException.class)
                .hasMessageStartingWith("The key ")
                .hasMessageContaining(told)
                .hasMessageNotContaining("secret");
    }

    @Test
    void longKeysAreKeptByTheirHash() {
        String longest = "x".repeat(512);

        assertThat(KeyRules.toKey("key", longest)).isEqualTo(longest);
        assertThat(KeyRules.toKey("key", longest + "x"))
                .hasSize(64)
                .isEqualTo(ClaimKey.sha256(longest + "x"))
                .isNotEqualTo(KeyRules.toKey("key", longest + "y"));
    }

    /** Draws random texts, even texts that no store accepts. {@code -Dhostile.seed=...} repeats a run. */
    @Test
    void anyTextIsAKeyThatCanBeStoredOrIsRefusedWithoutBeingShown() {
        long seed = Long.getLong("hostile.seed", System.nanoTime());
        Random random = new Random(seed);
        for (int number = 0; number < 3_000; number++) {
            String text = text(random);
            try {
                String key = KeyRules.toKey("The key", text);
                assertThat(new ClaimKey("orders", key).toString()).matches("orders/[0-9a-f]{16}");
                assertThat(key).doesNotContain("\0").isEqualTo(KeyRules.toKey("The key", new StringBuilder(text)));
                assertThat(new String(key.getBytes(UTF_8), UTF_8)).isEqualTo(key);
            } catch (UnusableKeyException refused) {
                assertThat(refused.getMessage()).as("hostile.seed=%d", seed).matches("The key [\\x20-\\x7E]{10,200}");
            }
        }
    }

    private static String text(Random random) {
        int most = random.nextInt(50) == 0 ? 2_000 : 8;
        return random.ints(random.nextInt(most), 0, Character.MAX_VALUE + 1)
                .map(unit -> random.nextInt(3) == 0 ? unit & 0x7F : unit)
                .mapToObj(unit -> String.valueOf((char) unit))
                .collect(Collectors.joining());
    }
}
