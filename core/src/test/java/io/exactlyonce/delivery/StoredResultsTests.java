package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class StoredResultsTests {

    @Test
    void largerResultIsRefusedWithSizeLimitAndProperty() {
        StoredResults results = new StoredResults(TestResults.NONE, 4);

        assertThat(results.write("éé")).isEqualTo("éé");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> results.write("ééo"))
                .withMessageContaining("5 bytes")
                .withMessageContaining("exactly-once.claim.max-result-size (4 bytes)")
                .withMessageNotContaining("ééo");
    }

    /** PostgreSQL's driver would store question marks for half a surrogate pair, DynamoDB's client refuses it, and PostgreSQL stores no NUL. */
    @Test
    void whatCannotBeStoredIsWrittenInAscii() {
        StoredResults results = new StoredResults(TestResults.NONE, 100);

        assertThat(results.write("\"a\uD83Db\uDCE6\uD83D\uDCE6\"")).isEqualTo("\"a\\ud83db\\udce6\uD83D\uDCE6\"");
        assertThat(results.write("\"a\0b\"")).isEqualTo("\"a\\u0000b\"");
    }
}
