package io.exactlyonce.boundary;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
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

    @Test
    void circleOfCausesEnds() {
        Exception inner = new IOException(FORGED);
        inner.initCause(new IllegalStateException("outer", inner));

        assertThat(printed(PrintableException.of(inner))).doesNotContain("\nFORGED");
    }
}
