package io.exactlyonce.claim;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.InvalidKeyException;
import java.math.BigDecimal;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class KeyRulesTests {

    enum Season {
        SUMMER {
            @Override
            public String toString() {
                return "warm";
            }
        }
    }

    @Test
    void textIsTakenAsItIs() {
        assertThat(KeyRules.toKey("key", " A-1 ")).isEqualTo(" A-1 ");
        assertThat(KeyRules.toKey("key", new StringBuilder("A-1"))).isEqualTo("A-1");
        assertThat(KeyRules.toKey("key", "\uD83D\uDCE6")).isEqualTo("\uD83D\uDCE6");
    }

    @Test
    void numbersUuidsAndEnumConstantsAreTakenByTheirText() {
        UUID uuid = UUID.fromString("123e4567-e89b-12d3-a456-426614174000");

        assertThat(KeyRules.toKey("key", 42)).isEqualTo("42");
        assertThat(KeyRules.toKey("key", new BigDecimal("1.50"))).isEqualTo("1.50");
        assertThat(KeyRules.toKey("key", uuid)).isEqualTo("123e4567-e89b-12d3-a456-426614174000");
        assertThat(KeyRules.toKey("key", Season.SUMMER)).isEqualTo("SUMMER");
    }

    @Test
    void nullIsRefused() {
        assertThatThrownBy(() -> KeyRules.toKey("The key", null))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessage("The key is null; every message needs a key of its own");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t\n", "\u2003"})
    void blankTextIsRefused(String blank) {
        assertThatThrownBy(() -> KeyRules.toKey("The key", blank))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageStartingWith("The key is blank");
    }

    @Test
    void nulIsRefused() {
        assertThatThrownBy(() -> KeyRules.toKey("The key", "A\0secret"))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("NUL")
                .hasMessageNotContaining("secret");
    }

    @ParameterizedTest
    @ValueSource(ints = {0xD83D, 0xDCE6})
    void halfASurrogatePairIsRefused(int half) {
        assertThatThrownBy(() -> KeyRules.toKey("The key", "secret" + (char) half))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining("surrogate")
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

    static List<Object> unstableValues() {
        return List.of(new Object(), new int[] {1}, List.of("A-1"), new byte[] {1}, Boolean.TRUE, 'x');
    }

    @ParameterizedTest
    @MethodSource("unstableValues")
    void otherTypesAreRefusedByName(Object value) {
        assertThatThrownBy(() -> KeyRules.toKey("The key", value))
                .isInstanceOf(InvalidKeyException.class)
                .hasMessageContaining(value.getClass().getName())
                .hasMessageContaining("must be text, a number, a UUID or an enum constant");
    }

    @Test
    void scopeThatWouldBecomeAnotherOneIsRefused() {
        assertThat(KeyRules.key("orders", " A-1 ")).isEqualTo(new ClaimKey("orders", " A-1 "));
        for (String scope : List.of("a\uD83D", "a\0")) {
            assertThatThrownBy(() -> KeyRules.key(scope, "A-1"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("scope contains ")
                    .hasMessageEndingWith("; remove it");
        }
    }

    /** Of any text at all. {@code -Dhostile.seed=...} repeats a run. */
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
            } catch (InvalidKeyException refused) {
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
