package io.exactlyonce.claim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests the part of an error that every store keeps. */
class ClaimResolutionTests {

    private static final String PARCEL = "\uD83D\uDCE6";
    private static final String ALMOST = "x".repeat(ClaimResolution.MAX_ERROR_LENGTH - 1);
    private static final ClaimId CLAIM = new ClaimId(new ClaimKey("orders", "o1"), UUID.randomUUID());

    /**
     * An escape sequence controls a terminal, and a line break forges a log line. Stores refuse NUL and unpaired
     * surrogates.
     */
    static Stream<Arguments> textThatAStoreOrALogCannotTakeIsLeftOutOrReplaced() {
        return Stream.of(
                Arguments.of("NUL", "a\0b\0", "ab"),
                Arguments.of("longest", ALMOST + "x", ALMOST + "x"),
                Arguments.of("too long", ALMOST + "xy", ALMOST + "x"),
                Arguments.of("cut within a character", ALMOST + PARCEL, ALMOST),
                Arguments.of(
                        "lines and controls",
                        "failed\r\n  at x\u001B[2J\u2028y\u0085z\u202Eo\t!",
                        "failed   at x [2J y z o !"),
                Arguments.of("marks and joiners", PARCEL + "e\u0301\u200D", PARCEL + "e\u0301\u200D"),
                Arguments.of("half a pair", "a\uD83Db" + PARCEL + "\uDCE6", "a\uFFFDb" + PARCEL + "\uFFFD"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void textThatAStoreOrALogCannotTakeIsLeftOutOrReplaced(String what, String error, String kept) {
        assertThat(new ClaimResolution.Released(CLAIM, error, false).error()).isEqualTo(kept);
        assertThat(new ClaimResolution.Parked(CLAIM, error, false).reason()).isEqualTo(kept);
    }
}
