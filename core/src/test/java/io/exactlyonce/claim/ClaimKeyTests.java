package io.exactlyonce.claim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ClaimKeyTests {

    private static final String LONGEST = "k".repeat(ClaimKey.MAX_LENGTH);

    @Test
    void longestIsTakenAndOneCharacterMoreIsRefused() {
        assertThat(new ClaimKey(LONGEST, LONGEST).key()).hasSize(512);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ClaimKey("orders", LONGEST + "k"))
                .withMessage("key (513 characters) must have at most 512 characters; shorten it");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ClaimKey(" \t", "A-1"))
                .withMessage("scope (2 characters) must not be blank; name it");
    }

    @Test
    void orderIsByScopeThenByKey() {
        ClaimKey first = new ClaimKey("orders", "B");
        ClaimKey second = new ClaimKey("payments", "A");
        ClaimKey third = new ClaimKey("payments", "B");

        assertThat(Stream.of(third, second, first).sorted()).isEqualTo(List.of(first, second, third));
    }

    @Test
    void hashIsStableSeparatesScopeFromKeyAndHidesTheKeyInItsText() {
        ClaimKey key = new ClaimKey("orders", "A-1");

        assertThat(key.downstreamKey())
                .isEqualTo(ClaimKey.sha256("orders\0A-1"))
                .isNotEqualTo(new ClaimKey("order", "sA-1").downstreamKey());
        assertThat(ClaimKey.sha256("abc"))
                .isEqualTo("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assertThat(key.keyHash()).hasSize(16).isEqualTo(key.downstreamKey().substring(0, 16));
        assertThat(key).hasToString("orders/" + key.keyHash());
    }

    @Test
    void eachCallOfAKeyHasADownstreamKeyOfItsOwn() {
        ClaimKey key = new ClaimKey("orders", "A-1");

        assertThat(key.downstreamKey("refund"))
                .isEqualTo(ClaimKey.sha256("orders\0A-1\0refund"))
                .isNotEqualTo(key.downstreamKey("charge"))
                .isNotEqualTo(key.downstreamKey())
                .isNotEqualTo(new ClaimKey("orders", "A-1refund").downstreamKey());
        assertThat(key.downstreamKey(LONGEST)).hasSize(64);
    }

    @Test
    void callThatNamesNothingOrTooMuchIsRefused() {
        ClaimKey key = new ClaimKey("orders", "A-1");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> key.downstreamKey(" "))
                .withMessage("name (1 characters) must not be blank; name the call or message, such as \"refund\"");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key.downstreamKey(LONGEST + "k"))
                .withMessage(
                        "name (513 characters) must have at most 512 characters; name the call or message, and not its content");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key.downstreamKey("a\0b"))
                .withMessageContaining("NUL");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> key.downstreamKey("\uD83D"))
                .withMessageContaining("surrogate");
    }
}
