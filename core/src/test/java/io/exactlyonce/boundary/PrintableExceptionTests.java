package io.exactlyonce.boundary;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class PrintableExceptionTests {

    private static final String FORGED = "told\nFORGED\u0085\u001b[2J";

    private static String printed(Throwable failure) {
        StringWriter text = new StringWriter();
        failure.printStackTrace(new PrintWriter(text, true));
        return text.toString();
    }

    @Test
    void failureWhoseMessagesAreLinesIsItself() {
        Exception failure = new IllegalStateException("told", new IOException((String) null));
        failure.addSuppressed(new IOException("before"));

        assertThat(PrintableException.of(failure)).isSameAs(failure);
        assertThat(PrintableException.of(null)).isNull();
    }

    @Test
    void messageOfAnyCauseIsOneLineAndTypeAndPlaceAreKept() {
        Exception failure = new IllegalStateException("outer", new IOException(FORGED, new Exception((String) null)));

        assertThat(printed(PrintableException.of(failure)))
                .contains("java.lang.IllegalStateException: outer")
                .contains("java.io.IOException: told FORGED [2J")
                .contains(": java.lang.Exception")
                .contains("messageOfAnyCauseIsOneLine")
                .doesNotContain("\nFORGED", "\u0085", "\u001b");
    }

    @Test
    void messageOfASuppressedFailureIsNotPrintedIfItHasLines() {
        Exception failure = new IllegalStateException("told");
        failure.addSuppressed(new IOException(FORGED));

        assertThat(printed(PrintableException.of(failure))).doesNotContain("FORGED");
    }

    @Test
    void longMessageIsCut() {
        assertThat(PrintableException.of(new IOException("x".repeat(1_000_000))).getMessage())
                .hasSizeLessThan(2_100);
    }

    /** PostgreSQL quotes a row that it refuses in the lines behind the first. */
    @Test
    void valuesThatADatabaseQuotesAreNotPrinted() {
        var refusal = new SQLException("ERROR: duplicate key\n  Detail: Key (scope, key)=(orders, card-4711) exists.");
        var translated = new IllegalStateException("Update; " + refusal.getMessage(), refusal);

        assertThat(printed(PrintableException.of(translated)))
                .contains("java.lang.IllegalStateException: Update; ERROR: duplicate key")
                .contains("java.sql.SQLException: ERROR: duplicate key")
                .doesNotContain("card-4711");
        assertThat(PrintableException.reason(translated)).isEqualTo("java.sql.SQLException: ERROR: duplicate key");
    }

    /** The driver quotes a batch's statement with its parameters in the first line. */
    @Test
    void batchThatADriverQuotesIsNotPrinted() {
        var refusal = new SQLException("ERROR: duplicate key");
        var batch =
                new BatchUpdateException("Batch entry 0 INSERT INTO claim VALUES ('card-4711')", new int[0], refusal);
        var translated = new IllegalStateException("Update; " + batch.getMessage(), batch);

        assertThat(printed(PrintableException.of(translated)))
                .contains("java.lang.IllegalStateException")
                .contains("java.sql.SQLException: ERROR: duplicate key")
                .doesNotContain("card-4711");
        assertThat(PrintableException.reason(translated)).isEqualTo("java.sql.SQLException: ERROR: duplicate key");
    }

    @Test
    void circleOfCausesEnds() {
        Exception inner = new IOException(FORGED);
        inner.initCause(new IllegalStateException("outer", inner));

        assertThat(printed(PrintableException.of(inner))).doesNotContain("\nFORGED");
    }
}
