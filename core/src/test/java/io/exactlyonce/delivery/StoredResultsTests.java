package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class StoredResultsTests {

    private final StoredResults results = new StoredResults(TestResults.NONE, 4);

    @Test
    void resultUpToTheLimitIsWritten() {
        assertThat(results.write("1234")).isEqualTo("1234");
    }

    @Test
    void largerResultIsRefusedWithSizeLimitAndProperty() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> results.write("12345"))
                .withMessageContaining("5 bytes")
                .withMessageContaining("exactly-once.claim.max-result-size (4 bytes)")
                .withMessageNotContaining("12345");
    }

    @Test
    void sizeIsCountedInBytes() {
        assertThat(results.write("éé")).isEqualTo("éé");
        assertThatIllegalArgumentException().isThrownBy(() -> results.write("ééé"));
    }

    /** PostgreSQL's driver would store question marks, and DynamoDB's client refuses the request with the claims of others in it. */
    @Test
    void halfASurrogatePairIsWrittenInAscii() {
        StoredResults large = new StoredResults(TestResults.NONE, 100);

        assertThat(large.write("\"a\uD83Db\uDCE6\uD83D\uDCE6\"")).isEqualTo("\"a\\ud83db\\udce6\uD83D\uDCE6\"");
    }

    /** PostgreSQL stores none, and an effect that has happened must not wait for its result. */
    @Test
    void nulIsWrittenInAscii() {
        StoredResults large = new StoredResults(TestResults.NONE, 100);

        assertThat(large.write("\"a\0b\"")).isEqualTo("\"a\\u0000b\"");
    }
}
