package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.actuate.DeadLetterRedrive.Redrives;
import io.exactlyonce.audit.ScriptedSqs;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.sqs.model.SqsException;

/**
 * Tests two traps: a refusal that only the log names, and a refusal that hides the redrive of another queue of the
 * same listener.
 */
@ExtendWith(OutputCaptureExtension.class)
class DeadLetterRedriveTests {

    private static final VisibilityWindow WINDOW = VisibilityWindow.ofSeconds(30);
    private static final String DEAD = "arn:aws:sqs:eu-central-1:123456789012:orders-dead";
    private static final String OTHER_DEAD = "arn:aws:sqs:eu-central-1:123456789012:returns-dead";

    private final DeadLetterRedrive redrive = new DeadLetterRedrive();
    private final ScriptedSqs sqs = new ScriptedSqs().redrives(5);

    private Subscription subscribed(String queue, ScriptedSqs server) {
        SqsQueue known = new SqsQueue(server, ScriptedSqs.ORDERS, WINDOW);
        known.readAttributes(Duration.ofSeconds(1)).join();
        return new Subscription("fulfilment", queue, WINDOW, known);
    }

    private static SqsException refusal(int status, String code, String message) {
        return (SqsException) SqsException.builder()
                .statusCode(status)
                .awsErrorDetails(AwsErrorDetails.builder()
                        .errorCode(code)
                        .errorMessage(message)
                        .build())
                .build();
    }

    private DeadLetterRedrive.Refusal refused(Throwable failure) {
        sqs.moves = source -> CompletableFuture.failedFuture(failure);

        Redrives redrives = redrive.start(List.of(subscribed("orders", sqs)));

        assertThat(redrives.redriven()).isEmpty();
        assertThat(redrives.refused()).hasSize(1);
        assertThat(redrives.refused().get(0).queue()).isEqualTo(DEAD);
        return redrives.refused().get(0);
    }

    @Test
    void valueThatSqsQuotesIsNotReported() {
        DeadLetterRedrive.Refusal refusal =
                refused(refusal(400, "InvalidParameterValue", "Value AQEB4711 for parameter TaskHandle is invalid"));

        assertThat(refusal.reason()).isEqualTo("InvalidParameterValue: Value ... for parameter TaskHandle is invalid");
    }

    /** SQS may quote the request with its session token after the first line of an error text. */
    @Test
    void missingRightIsReportedWithWhatToAllowAndNothingThatSqsQuotesOfTheRequest(CapturedOutput output) {
        DeadLetterRedrive.Refusal refusal = refused(refusal(
                403,
                "AccessDenied",
                "User shop may not perform sqs:startmessagemovetask\n\nCanonical: x-amz-security-token:abc"));

        assertThat(refusal.reason()).isEqualTo("AccessDenied: User shop may not perform sqs:startmessagemovetask");
        assertThat(refusal.remedy()).startsWith("allow sqs:StartMessageMoveTask, ");
        assertThat(output).contains("may not perform").doesNotContain("x-amz-security-token");
    }

    @ParameterizedTest
    @CsvSource({
        "400, KMS.AccessDeniedException, kms:Decrypt",
        "403, ExpiredToken, credentials",
        "403, SignatureDoesNotMatch, credentials"
    })
    void remedyIsTheRefusalsOwn(int status, String code, String remedy) {
        assertThat(refused(refusal(status, code, "no")).remedy()).contains(remedy);
    }

    @Test
    void redriveThatIsInProgressIsRefusedWithTheCommandThatListsIt(CapturedOutput output) {
        DeadLetterRedrive.Refusal refusal = refused(
                refusal(400, "AWS.SimpleQueueService.UnsupportedOperation", "There is already a task running."));

        assertThat(refusal.reason())
                .isEqualTo("AWS.SimpleQueueService.UnsupportedOperation: There is already a task running.");
        assertThat(refusal.remedy()).contains("aws sqs list-message-move-tasks --source-arn " + DEAD);
        assertThat(output).contains("Redriving " + DEAD + " failed: AWS.SimpleQueueService.UnsupportedOperation");
    }

    @Test
    void failureThatGivesNoReasonIsReportedByItsStatusOrItsTypeAlone() {
        assertThat(refused(SqsException.builder().statusCode(501).build()).reason())
                .isEqualTo("SQS answered with status 501");
        assertThat(refused(SdkClientException.create("proxy http://shop:hunter2@proxy refused"))
                        .reason())
                .endsWith(": SdkClientException")
                .doesNotContain("hunter2");
        assertThat(refused(ApiCallTimeoutException.create(5_000)).reason())
                .isEqualTo("no response within 5 s: it may have started");
    }

    /** An SQS emulator can write any text as the code of an error. */
    @Test
    void reasonThatSqsWritesIsOneLineOfBoundedLength(CapturedOutput output) {
        DeadLetterRedrive.Refusal refusal =
                refused(refusal(400, "Odd\nFORGED 1\u001b[2J", "no\u0085FORGED 2\u202e " + "x".repeat(1_000_000)));

        assertThat(refusal.reason())
                .startsWith("Odd FORGED 1 [2J: no")
                .hasSizeLessThanOrEqualTo(1_000)
                .doesNotContain("\n", "\u0085", "\u001b", "\u202e");
        assertNotForged(output);
        assertThat(output.getAll().lines()).allMatch(line -> line.length() < 2_000);
    }

    @Test
    void failureWithoutAnAnswerForgesNoLine(CapturedOutput output) {
        refused(SdkClientException.create("proxy refused\nFORGED 1\u001b[2J", new IOException("so\r\nFORGED 2\u202e")));

        assertThat(output).contains("Redriving " + DEAD + " failed", "proxy refused FORGED 1");
        assertNotForged(output);
    }

    private static void assertNotForged(CapturedOutput output) {
        assertThat(output.getAll().lines()).noneMatch(line -> line.startsWith("FORGED"));
        assertThat(output).doesNotContain("\u0085", "\u001b[2J", "\u202e");
    }

    @Test
    void refusalOfOneQueueHidesNotThatAnotherOnesRedriveHasStarted() {
        ScriptedSqs other = new ScriptedSqs()
                .with(
                        ScriptedSqs.ORDERS,
                        "RedrivePolicy",
                        "{\"deadLetterTargetArn\":\"" + OTHER_DEAD + "\",\"maxReceiveCount\":\"5\"}");
        sqs.moves = source -> CompletableFuture.failedFuture(refusal(400, "UnsupportedOperation", "one runs"));

        Redrives redrives = redrive.start(List.of(subscribed("orders", sqs), subscribed("returns", other)));

        assertThat(redrives.redriven()).containsExactly(OTHER_DEAD);
        assertThat(redrives.refused())
                .extracting(DeadLetterRedrive.Refusal::queue)
                .containsExactly(DEAD);
    }

    /** The second request would be refused, because the redrive of the first one is in progress. */
    @Test
    void deadLetterQueueThatTwoQueuesShareIsRedrivenOnce() {
        List<String> asked = new ArrayList<>();
        var moves = sqs.moves;
        sqs.moves = source -> {
            asked.add(source);
            return moves.apply(source);
        };

        Redrives redrives = redrive.start(List.of(subscribed("orders", sqs), subscribed("returns", sqs)));

        assertThat(asked).containsExactly(DEAD);
        assertThat(redrives).isEqualTo(new Redrives(List.of(DEAD), List.of()));
    }
}
