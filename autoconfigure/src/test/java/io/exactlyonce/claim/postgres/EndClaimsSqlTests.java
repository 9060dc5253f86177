package io.exactlyonce.claim.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EndClaimsSqlTests {

    private static final String PARCEL = "\uD83D\uDCE6";

    @Test
    void nulIsLeftOut() {
        assertThat(EndClaimsSql.storable("a\0b\0")).isEqualTo("ab");
    }

    @Test
    void longestTextIsKeptAndMoreIsCut() {
        String longest = "x".repeat(EndClaimsSql.MAX_ERROR_LENGTH);

        assertThat(EndClaimsSql.storable(longest)).isEqualTo(longest);
        assertThat(EndClaimsSql.storable(longest + "y")).isEqualTo(longest);
    }

    @Test
    void cutLeavesNoHalfCharacter() {
        String almost = "x".repeat(EndClaimsSql.MAX_ERROR_LENGTH - 1);

        assertThat(EndClaimsSql.storable(almost + PARCEL)).isEqualTo(almost);
        assertThat(EndClaimsSql.storable("x" + almost + PARCEL)).isEqualTo("x" + almost);
    }

    /** Terminals obey an escape, and each line of a log or a report is taken for one of its own. */
    @Test
    void errorIsOneLineWithoutControlCharacters() {
        assertThat(EndClaimsSql.storable("failed\r\n  at x\u001B[2J\u2028y\u0085z\u202Eo\t!"))
                .isEqualTo("failed   at x [2J y z o !");
        assertThat(EndClaimsSql.storable(PARCEL + "e\u0301\u200D")).isEqualTo(PARCEL + "e\u0301\u200D");
    }
}
