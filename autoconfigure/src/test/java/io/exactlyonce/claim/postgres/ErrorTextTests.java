package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ErrorTextTests {

    private static final String PARCEL = "\uD83D\uDCE6";

    @Test
    void nulIsLeftOut() {
        assertThat(ErrorText.storable("a\0b\0")).isEqualTo("ab");
    }

    @Test
    void longestTextIsKeptAndMoreIsCut() {
        String longest = "x".repeat(ErrorText.MAX_LENGTH);

        assertThat(ErrorText.storable(longest)).isEqualTo(longest);
        assertThat(ErrorText.storable(longest + "y")).isEqualTo(longest);
    }

    @Test
    void cutLeavesNoHalfCharacter() {
        String almost = "x".repeat(ErrorText.MAX_LENGTH - 1);

        assertThat(ErrorText.storable(almost + PARCEL)).isEqualTo(almost);
        assertThat(ErrorText.storable("x" + almost + PARCEL)).isEqualTo("x" + almost);
    }

    /** Terminals obey an escape, and each line of a log or a report is taken for one of its own. */
    @Test
    void errorIsOneLineWithoutControlCharacters() {
        assertThat(ErrorText.storable("failed\r\n  at x\u001B[2J\u2028y\u0085z\u202Eo\t!"))
                .isEqualTo("failed   at x [2J y z o !");
        assertThat(ErrorText.storable(PARCEL + "e\u0301\u200D")).isEqualTo(PARCEL + "e\u0301\u200D");
    }
}
