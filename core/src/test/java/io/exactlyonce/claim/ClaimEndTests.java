package io.exactlyonce.claim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is kept of an error, whichever store keeps it. */
class ClaimEndTests {

    private static final String PARCEL = "\uD83D\uDCE6";
    private static final ClaimId CLAIM = new ClaimId(new ClaimKey("orders", "o1"), UUID.randomUUID());

    private static String kept(String error) {
        String released = new ClaimEnd.Released(CLAIM, error, false).error();
        assertThat(new ClaimEnd.Parked(CLAIM, error, false).reason()).isEqualTo(released);
        return released;
    }

    @Test
    void nulIsLeftOut() {
        assertThat(kept("a\0b\0")).isEqualTo("ab");
    }

    @Test
    void longestTextIsKeptAndMoreIsCut() {
        String longest = "x".repeat(ClaimEnd.MAX_ERROR_LENGTH);

        assertThat(kept(longest)).isEqualTo(longest);
        assertThat(kept(longest + "y")).isEqualTo(longest);
    }

    @Test
    void cutLeavesNoHalfCharacter() {
        String almost = "x".repeat(ClaimEnd.MAX_ERROR_LENGTH - 1);

        assertThat(kept(almost + PARCEL)).isEqualTo(almost);
        assertThat(kept("x" + almost + PARCEL)).isEqualTo("x" + almost);
    }

    /** Terminals obey an escape, and each line of a log or a report is taken for one of its own. */
    @Test
    void errorIsOneLineWithoutControlCharacters() {
        assertThat(kept("failed\r\n  at x\u001B[2J\u2028y\u0085z\u202Eo\t!")).isEqualTo("failed   at x [2J y z o !");
        assertThat(kept(PARCEL + "e\u0301\u200D")).isEqualTo(PARCEL + "e\u0301\u200D");
    }

    /** DynamoDB takes no request that has one, with the claims of others in it. */
    @ParameterizedTest
    @ValueSource(ints = {0xD83D, 0xDCE6})
    void halfASurrogatePairIsReplaced(int half) {
        assertThat(kept("a" + (char) half + "b" + PARCEL + (char) 0xDCE6)).isEqualTo("a\uFFFDb" + PARCEL + "\uFFFD");
    }
}
