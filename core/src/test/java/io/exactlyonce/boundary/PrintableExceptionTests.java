package io.exactlyonce.boundary;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.BatchUpdateException;
import java.sql.SQLException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sqs.model.SqsException;

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

    /** PostgreSQL quotes the values of a refused row in the lines after the first. */
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

    /**
     * PostgreSQL quotes the value in the first line of these errors. The value may contain quotation marks and line
     * breaks, so no part of the line is safe to print.
     */
    @ParameterizedTest
    @ValueSource(strings = {"22P02", "22003", "22007", "P0001", "42601", "XX000", "HY000", "23505", "42000"})
    void failureWhoseFirstLineMayQuoteAValueHasItsStateOnly(String state) {
        var refusal = new SQLException("ERROR: invalid input syntax for type integer: \"card-4711\"", state);
        var translated = new IllegalStateException("Update; " + refusal.getMessage(), refusal);

        assertThat(printed(PrintableException.of(translated)))
                .contains("java.lang.IllegalStateException")
                .contains("java.sql.SQLException: SQLSTATE " + state)
                .doesNotContain("card-4711");
        assertThat(PrintableException.reason(translated)).isEqualTo("java.sql.SQLException: SQLSTATE " + state);
    }

    /** Another driver may write anything into its message. */
    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "2"})
    void failureWithoutAStateOfADatabaseHasItsFirstLine(@Nullable String state) {
        var failure = new IllegalStateException("outer", new SQLException("no connection\n card-4711", state));

        assertThat(printed(PrintableException.of(failure)))
                .contains("java.sql.SQLException: no connection")
                .doesNotContain("card-4711");
    }

    @ParameterizedTest
    @ValueSource(strings = {"08006", "25006", "28P01", "3D000", "40001", "53300", "57P01"})
    void failureOfAServerOrTransactionIsItself(String state) {
        Exception failure = new IllegalStateException("outer", new SQLException("ERROR: told", state));

        assertThat(PrintableException.of(failure)).isSameAs(failure);
    }

    @Test
    void suppressedFailureThatQuotesAValueIsNotPrinted() {
        Exception failure = new IllegalStateException("told");
        failure.addSuppressed(new IOException("read", new SQLException("invalid: \"card-4711\"", "22P02")));

        assertThat(printed(PrintableException.of(failure)))
                .contains("java.lang.IllegalStateException: told")
                .doesNotContain("card-4711");
    }

    /**
     * A batch reports one failure, and adds its other failures as suppressed exceptions. Each of these may have
     * suppressed exceptions of its own.
     */
    @Test
    void suppressedFailureOfASuppressedFailureIsNotPrinted() {
        Exception closing = new IOException("closing", new IOException("rolling back"));
        closing.getCause().addSuppressed(new SQLException("invalid: \"card-4711\"", "22P02"));
        Exception failure = new IllegalStateException("told");
        failure.addSuppressed(closing);

        assertThat(printed(PrintableException.of(failure)))
                .contains("java.lang.IllegalStateException: told")
                .doesNotContain("card-4711");
    }

    @Test
    void suppressedFailureOfASuppressedFailureForgesNoLine() {
        Exception closing = new IOException("closing");
        closing.addSuppressed(new IOException(FORGED));
        Exception failure = new IllegalStateException("told");
        failure.addSuppressed(closing);

        assertThat(printed(PrintableException.of(failure))).doesNotContain("\nFORGED");
    }

    @Test
    void lastOfManyCausesForgesNoLine() {
        Exception failure = new IOException(FORGED);
        for (int causes = 0; causes < 30; causes++) {
            failure = new IllegalStateException("told", failure);
        }

        assertThat(printed(PrintableException.of(failure))).doesNotContain("\nFORGED");
    }

    @Test
    void circleOfSuppressedFailuresEnds() {
        Exception failure = new IllegalStateException("told");
        Exception closing = new IOException("closing", failure);
        failure.addSuppressed(closing);
        closing.addSuppressed(failure);

        assertThat(PrintableException.of(failure)).isSameAs(failure);
    }

    /**
     * A server that takes the place of SQS may choose the text. The polling thread searches the text for values, so the
     * search must be fast.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "Value ",
                "\"",
                "numeric value: ",
                " for parameter ",
                " at '",
                "Value \" at '",
                "\n",
                " '",
                " 'a",
                "Invalid a",
                "invalid a: ",
                "invalid ",
                "AQEB",
                "AQEB.",
                "' "
            })
    @Timeout(value = 5, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void textOfManyValuesIsReadInTime(String repeated) {
        var answer = SqsException.builder()
                .message(repeated.repeat(1_000_000 / repeated.length()))
                .statusCode(400)
                .build();

        assertThat(PrintableException.of(answer).getMessage()).hasSizeLessThan(2_100);
        assertThat(PrintableException.reason(answer)).hasSizeLessThan(2_100);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Value AQEB4711 for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.",
                "The input receipt handle \"AQEB4711\" is not a valid receipt handle.",
                "Value 'AQEB4711 for parameter x' for parameter ReceiptHandle is invalid. Reason: Must be a receipt handle",
                "1 validation error detected: Value 'AQEB4711' at 'key' failed to satisfy constraint",
                "The parameter cannot be converted to a numeric value: AQEB4711",
                "Invalid ReceiptHandle: AQEB4711",
                "Invalid value for parameter ReceiptHandle: AQEB4711 (Service: Sqs, Status Code: 400)",
                "The input receipt handle 'AQEB4711' is not a valid receipt handle.",
                "Value 'AQEB4711' for parameter ReceiptHandle is invalid. Reason: The receipt handle hasn't arrived.",
                "The Canonical String for this request should have been 'POST x-amz-security-token:AQEB4711'",
                "The receipt handle AQEB4711AQEB4711AQEB4711AQEB4711AQEB4711AQEB4711AQEB4711AQEB4711 is not valid.",
                "The receipt handle AQEB4711AQEB4711AQEB4711AQEB4711#AQEB4711/AQEB4711+AQEB4711AQEB47== has expired"
            })
    void valueThatAwsQuotesIsLeftOut(String message) {
        var answer = SqsException.builder().message(message).statusCode(400).build();
        var failure = new CompletionException("SQS: " + message, answer);

        assertThat(printed(PrintableException.of(failure)))
                .contains(message.substring(0, message.indexOf(' ')))
                .contains("...")
                .doesNotContain("AQEB4711");
        assertThat(PrintableException.reason(failure))
                .contains("SqsException: ")
                .doesNotContain("AQEB4711");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Rate exceeded (Service: Sqs)",
                "User: arn:aws:sts::111122223333:assumed-role/a-long-name-of-a-role-in-production/i-0123456789abcdef0-and-so-on"
                        + " is not authorized to perform: sqs:ReceiveMessage on resource: arn:aws:sqs:eu-central-1:111122223333:orders",
                "One or more parameter values were invalid: Missing the key pk in the item (Service: DynamoDb, Status Code: 400,"
                        + " Request ID: 4KBNVRGD25RG1KEO9UT4V3FQDJVV4KQNSO5AEMVJF66Q9ASUAAJG)",
                "The address https://sqs.eu-central-1.amazonaws.com/111122223333/orders-of-all-our-shops-in-europe-and-elsewhere"
                        + " isn't valid, and the queue's policy doesn't matter"
            })
    void answerOfAwsWithoutAValueIsItself(String message) {
        var answer = SqsException.builder().message(message).build();

        assertThat(PrintableException.of(answer)).isSameAs(answer);
    }

    /**
     * The SDK adds the text of each earlier attempt as a suppressed exception. The last attempt may have no answer,
     * while the answer of an earlier attempt quotes a value.
     */
    @Test
    void valueThatAnEarlierAttemptQuotesIsLeftOut() {
        var last = SdkClientException.create("Unable to execute HTTP request", new IOException("Connection reset"));
        last.addSuppressed(SdkClientException.create(
                "Request attempt 1 failure: Value AQEB4711 for parameter ReceiptHandle could not be processed"));

        assertThat(printed(PrintableException.of(last)))
                .contains("Connection reset")
                .doesNotContain("AQEB4711");
    }

    @Test
    void valueOfSeveralLinesIsLeftOutOfAReason() {
        var answer = SqsException.builder()
                .message("1 validation error detected: Value '[S=card-4711\nx]' at 'statements' failed")
                .build();

        assertThat(PrintableException.reason(answer))
                .endsWith("Value ... at 'statements' failed")
                .doesNotContain("card-4711");
    }

    /** A wrapper may repeat only AWS's error message, without the text that the SDK adds to it. */
    @Test
    void partOfAnAnswerThatAnotherFailureRepeatsIsLeftOut() {
        var details = AwsErrorDetails.builder()
                .errorCode("InvalidParameterValue")
                .errorMessage("Value AQEB4711 for parameter ReceiptHandle is invalid")
                .build();
        var answer = SqsException.builder().awsErrorDetails(details).build();
        var around = new IllegalStateException("Listener 'orders': " + details.errorMessage(), answer);

        assertThat(printed(PrintableException.of(around)))
                .contains("Listener 'orders': Value ... for parameter ReceiptHandle is invalid")
                .doesNotContain("AQEB4711");
    }

    @Test
    void textAroundAnAnswerKeepsItsNames() {
        var answer = SqsException.builder().message("Access denied").build();
        var around = new IllegalStateException("Queue 'orders' of listener 'shipping' is not available", answer);

        assertThat(PrintableException.of(around)).isSameAs(around);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Credential should be scoped to a valid region, not 'us-east-1'.",
                "Credential should be scoped to correct service: 'sqs'.",
                "The message attribute 'Exactly-Once-Key' with type 'String' must use field 'StringValue'.",
                "Table: a-long-name-of-a-table-in-production-that-has-many-more-than-sixty-four-characters not found",
                "Invalid request: Missing required parameter MessageGroupId",
                "Invalid address: https://sqs.eu-central-1.amazonaws.com/",
                "Invalid endpoint region: eu-cental-1"
            })
    void nameThatARemedyNeedsIsKept(String message) {
        var answer = SqsException.builder().message(message).build();

        assertThat(PrintableException.of(answer)).isSameAs(answer);
    }

    @Test
    void circleOfCausesEnds() {
        Exception inner = new IOException(FORGED);
        inner.initCause(new IllegalStateException("outer", inner));

        assertThat(printed(PrintableException.of(inner))).doesNotContain("\nFORGED");
    }
}
