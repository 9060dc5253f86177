package io.exactlyonce.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.type;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.MismatchPolicy;
import io.exactlyonce.audit.Finding.Severity;
import io.exactlyonce.delivery.ClaimSettings;
import io.exactlyonce.delivery.OutcomePolicy;
import io.exactlyonce.delivery.RetryBackoff;
import io.exactlyonce.queue.FakeTimer;
import io.exactlyonce.queue.PollGate;
import io.exactlyonce.queue.Polling;
import io.exactlyonce.queue.QueueAttributes;
import io.exactlyonce.queue.QueueSettings;
import io.exactlyonce.queue.ScriptedQueue;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

@ExtendWith(OutputCaptureExtension.class)
class QueueAuditTests {

    private static final Duration DAY = Duration.ofDays(1);

    private final ScriptedSqs sqs = new ScriptedSqs().redrives(5);
    private final List<QueueObserver.Levels> observed = new ArrayList<>();
    private final FakeTimer timer = new FakeTimer();
    private boolean isRenewed = true;
    private @Nullable Duration lease;
    private int retentionDays = 18;
    private int initialDelay = 16;
    private @Nullable Duration connectionTimeout;
    private @Nullable Duration roundTrip;
    private @Nullable Duration timeout;
    private @Nullable Duration p99;
    private int visibilityTimeout = 30;
    private String queue = "orders";
    private int polls = 1;
    private @Nullable Duration patience;

    private QueueAudit audit(AuditMode mode, String... silenced) {
        return audit(mode, Set.of(silenced), List.of((subscription, levels) -> observed.add(levels)));
    }

    private QueueAudit audit(AuditMode mode, Set<String> silenced, List<QueueObserver> observers) {
        QueueAudit.Settings terms = new QueueAudit.Settings(
                isRenewed,
                new OutcomePolicy(
                        new ClaimSettings("worker", null, DAY, MismatchPolicy.REFUSE, UUID::randomUUID),
                        new RetryBackoff(Duration.ofSeconds(1), Duration.ofMinutes(5)),
                        Map.of("fulfilment", own())),
                () -> Optional.ofNullable(connectionTimeout),
                () -> Optional.ofNullable(roundTrip));
        return new QueueAudit(mode, silenced, terms, subscription -> Optional.ofNullable(p99), observers, timer);
    }

    /** Returns the listener's own settings, which the audit must use instead of the application's settings. */
    private OutcomePolicy own() {
        return new OutcomePolicy(
                new ClaimSettings(
                        "worker", lease, DAY.multipliedBy(retentionDays), MismatchPolicy.REFUSE, UUID::randomUUID),
                new RetryBackoff(Duration.ofSeconds(initialDelay), Duration.ofMinutes(5)));
    }

    /** Creates an audit that only reports, for one listener of the queue. */
    private QueueAudit audited() {
        QueueAudit audit = audit(AuditMode.WARN);
        audit.subscribed(orders());
        return audit;
    }

    private static List<Finding> findings(QueueAudit audit) {
        return audit.reports().get(0).findings();
    }

    private Subscription orders() {
        VisibilityWindow length = VisibilityWindow.ofSeconds(visibilityTimeout);
        SqsQueue polled = new SqsQueue(sqs, ScriptedSqs.ORDERS, length);
        polled.polledBy(new Polling(Duration.ofSeconds(10), polls));
        if (patience != null) {
            polled.clientPatience(patience);
        }
        return new Subscription("fulfilment", queue, new QueueSettings(length, 5), timeout, polled, PollGate.OPEN);
    }

    private List<Finding> findings(String... silenced) {
        QueueAudit audit = audit(AuditMode.WARN, silenced);
        audit.subscribed(orders());
        return findings(audit);
    }

    /** Asserts that a rule has one finding, with this text and remedy. */
    private void assertFinding(String rule, Severity severity, String... says) {
        assertThat(findings())
                .filteredOn(finding -> finding.rule().equals(rule))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.severity()).isEqualTo(severity);
                    assertThat(finding.found() + "; " + finding.remedy()).contains(says);
                });
    }

    /** Reading attributes loads about a hundred classes, so startup does not wait for it. */
    @Test
    void whatIsOnlyReportedIsReadASecondAfterTheStartAndNotOfAListenerThatHasEnded() {
        timer.hold();
        QueueAudit audit = audit(AuditMode.WARN);
        Subscription ended = orders();
        audit.subscribed(ended);
        queue = "returns";
        audit.subscribed(orders());
        assertThat(audit.reports()).isEmpty();
        assertThat(timer.delays()).containsOnly(Duration.ofSeconds(1));

        audit.unsubscribed(ended);
        timer.run();

        assertThat(audit.reports())
                .extracting(report -> report.subscription().queue())
                .containsExactly("returns");
        assertThat(observed).hasSize(1);
    }

    @Test
    void queueAsItShouldBeHasNoFindings(CapturedOutput output) {
        assertThat(findings()).isEmpty();
        assertThat(output).doesNotContain("The audit of");
    }

    /** A queue keeps messages for 4 d by SQS's default, and a dead-letter queue for 14 d at most. */
    @Test
    void defaultSettingsAreFineForAnOrdinaryQueue(CapturedOutput output) {
        initialDelay = 1;

        assertThat(findings()).extracting(Finding::severity).containsOnly(Severity.NOTE);
        assertThat(output).doesNotContain("WARN");
    }

    /** The first incident: a visibility timeout of 30 s, handlers of 35 to 45 s, and no renewals. */
    @Test
    void visibilityTimeoutOfThirtySecondsWithHandlersOfFortyFive() {
        timeout = Duration.ofSeconds(45);
        p99 = Duration.ofSeconds(45);
        isRenewed = false;

        assertThat(findings())
                .extracting(Finding::rule, Finding::severity)
                .containsExactlyInAnyOrder(
                        tuple("static-window", Severity.ERROR),
                        tuple("window-latency", Severity.ERROR),
                        tuple("lease", Severity.ERROR));
        assertFinding("static-window", Severity.ERROR, "30s", "270s");
        assertFinding("window-latency", Severity.ERROR, "45s", "30s");
    }

    @Test
    void visibilityTimeoutThatNothingRenewsMustHoldSixTimeouts() {
        timeout = Duration.ofMinutes(5);
        isRenewed = false;
        visibilityTimeout = 1_800;
        assertThat(findings()).extracting(Finding::rule).doesNotContain("static-window");

        visibilityTimeout = 1_799;
        assertFinding("static-window", Severity.ERROR, "1799s", "1800s");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            30    | PT5M | the visibility timeout (30s) | 6 times the listener's timeout (300s): 1800s | messageVisibilitySeconds
            43200 | PT3H | 64800s                       | shorten the timeout                          | to at most 7200s
            31    |      | no timeout                   | its visibility timeout (31s)                 | (5166ms)
            """)
    void shorterVisibilityTimeoutIsReportedWithValueBoundAndRemedy(
            int seconds, @Nullable Duration handlers, String value, String bound, String remedy) {
        visibilityTimeout = seconds;
        timeout = handlers;
        isRenewed = false;

        assertFinding("static-window", Severity.ERROR, value, bound, remedy);
    }

    @Test
    void renewalCarriesHandlersBeyondTheVisibilityTimeoutSoThatItIsReportedMoreQuietly() {
        timeout = Duration.ofSeconds(45);
        p99 = Duration.ofSeconds(45);

        assertThat(findings())
                .extracting(Finding::rule, Finding::severity)
                .containsExactlyInAnyOrder(
                        tuple("static-window", Severity.NOTE), tuple("window-latency", Severity.WARNING));
    }

    /** HikariCP's default connection timeout and SQS's default visibility timeout are both 30 s. */
    @Test
    void poolThatLetsRenewalsWaitForAsLongAsALease() {
        connectionTimeout = Duration.ofSeconds(30);

        assertFinding("connection-timeout", Severity.WARNING, "for 30s, the lease is 30s", "about 3s");
        visibilityTimeout = 31;
        assertThat(findings()).isEmpty();
    }

    @Test
    void databaseSoFarAwayThatARenewalWithoutAConnectionComesTooLate() {
        roundTrip = Duration.ofMillis(4_500);
        visibilityTimeout = 13;

        assertFinding("database-distance", Severity.WARNING, "takes at least 4500ms, the lease is 13s");
        visibilityTimeout = 14;
        assertThat(findings()).isEmpty();
    }

    @Test
    void pollsThatMayKeepAllConnectionsOfTheirClient() {
        sqs.connections = 2;
        QueueAudit audit = audited();
        assertThat(findings(audit)).isEmpty();

        queue = "returns";
        audit.subscribed(orders());
        audit.tick();

        assertThat(audit.reports())
                .hasSize(2)
                .allSatisfy(report -> assertThat(report.findings())
                        .singleElement()
                        .satisfies(finding -> {
                            assertThat(finding.rule()).isEqualTo("sqs-connections");
                            assertThat(finding.severity()).isEqualTo(Severity.WARNING);
                            assertThat(finding.found()).contains("2 polls", "has 2 connections");
                            assertThat(finding.remedy()).contains("maxConcurrency(52)");
                        }));
    }

    @Test
    void pollsOfOneBusyListenerThatMayKeepAllConnections() {
        sqs.connections = 10;
        polls = 10;

        assertFinding("sqs-connections", Severity.WARNING, "up to 10 polls", "maxConcurrency(60)");
    }

    @ParameterizedTest
    @CsvSource({
        "PT5S, , apiCallTimeout of the SqsAsyncClient is 5s",
        ", PT2S, apiCallAttemptTimeout of the SqsAsyncClient is 2s",
        "PT10S, , apiCallTimeout of the SqsAsyncClient is 10s",
        "PT5S, PT0.5S, apiCallAttemptTimeout of the SqsAsyncClient is 500ms"
    })
    void timeoutOfTheClientThatIsShorterThanThePollTimeout(
            @Nullable Duration call, @Nullable Duration attempt, String found) {
        limit(call, attempt);

        assertFinding("poll-timeout", Severity.NOTE, found, "the poll timeout is 10s", "SqsAsyncClientCustomizer");
    }

    private void limit(@Nullable Duration call, @Nullable Duration attempt) {
        ClientOverrideConfiguration.Builder limits = ClientOverrideConfiguration.builder();
        if (call != null) {
            limits.apiCallTimeout(call);
        }
        if (attempt != null) {
            limits.apiCallAttemptTimeout(attempt);
        }
        sqs.limits = limits.build();
    }

    @Test
    void timeoutsOfTheClientThatOutlastThePollTimeout() {
        limit(Duration.ofSeconds(60), Duration.ofSeconds(11));

        assertThat(findings()).isEmpty();
    }

    /** The SDK does not expose the timeouts of HTTP clients. Only a poll reveals them. */
    @Test
    void pollsThatTheHttpClientGivesUp() {
        patience = Duration.ofMillis(2_200);

        assertFinding(
                "poll-timeout",
                Severity.WARNING,
                "gives up after about 2200ms, the poll timeout is 10s",
                "readTimeout",
                "pollTimeoutSeconds");
    }

    /** The third incident: poison messages in the queue for days. */
    @Test
    void queueWithoutADeadLetterQueue(CapturedOutput output) {
        sqs.queues.get(ScriptedSqs.ORDERS).remove("RedrivePolicy");

        assertFinding("redrive-policy", Severity.ERROR, "RedrivePolicy", "maxReceiveCount 5");
        assertThat(findings()).hasSize(1);
        assertThat(output)
                .contains("The audit of listener 'fulfilment' on queue 'orders' found")
                .contains("ERROR  redrive-policy  no redrive policy");
    }

    /**
     * A message keeps its first timestamp when SQS moves it, so SQS may delete the message before an operator sees it.
     */
    @Test
    void deadLetterQueueThatKeepsMessagesForLessThanTheQueue() {
        sqs.with(ScriptedSqs.DEAD, "MessageRetentionPeriod", "345600");

        assertFinding("dead-letter-retention", Severity.ERROR, "4d");
        assertThat(findings()).hasSize(1);
        queue = "orders.fifo";
        assertThat(findings())
                .as("a message of a FIFO queue gets a new timestamp when it is moved")
                .isEmpty();
    }

    @Test
    void fewReceivesBeforeTheDeadLetterQueue() {
        sqs.redrives(1);
        assertFinding("max-receive-count", Severity.ERROR, "crashes once");

        sqs.redrives(4);
        assertFinding("max-receive-count", Severity.WARNING, "fails 4 times");
    }

    @Test
    void attemptsThatEndBeforeAnOutageDoesAreNoted() {
        initialDelay = 1;

        // The delays are 1, 2, 4 and 8 s, and jitter may halve each of them.
        assertFinding("receive-budget", Severity.NOTE, "5 receives", "7500ms");
    }

    @Test
    void keysThatAreForgottenBeforeTheirMessagesAre() {
        retentionDays = 14;

        assertFinding("claim-retention", Severity.WARNING, "14d", "18d", "set exactly-once.claim.retention to 18d");
        sqs.queues.get(ScriptedSqs.ORDERS).remove("RedrivePolicy");
        assertThat(findings("redrive-policy")).isEmpty();
    }

    @Test
    void leaseThatEndsBeforeTheVisibilityTimeoutIsReported() {
        lease = Duration.ofSeconds(29);

        assertFinding("lease", Severity.WARNING, "30s");
    }

    @Test
    void messagesNearTheCapAreReported() {
        sqs.with(ScriptedSqs.ORDERS, "ApproximateNumberOfMessagesNotVisible", "96000");
        assertThat(findings()).isEmpty();
        sqs.with(ScriptedSqs.ORDERS, "ApproximateNumberOfMessagesNotVisible", "96001");
        assertFinding("in-flight", Severity.WARNING, "96001");
    }

    @Test
    void whatMayNotBeReadIsUnknownAndNotFine() {
        sqs.attributesRefusal = ScriptedSqs.failure(403, "AccessDenied");
        sqs.renewalAnswer = ScriptedSqs.failure(503, "ServiceUnavailable");

        assertThat(findings())
                .extracting(Finding::rule, Finding::severity)
                .containsExactlyInAnyOrder(
                        tuple("redrive-policy", Severity.UNKNOWN),
                        tuple("claim-retention", Severity.UNKNOWN),
                        tuple("renewal-permission", Severity.UNKNOWN));
        assertFinding("redrive-policy", Severity.UNKNOWN, "access denied");
    }

    @Test
    void whatAnEmulatorDoesNotTellIsUnknown() {
        sqs.queues.get(ScriptedSqs.DEAD).remove("MessageRetentionPeriod");

        assertThat(findings()).extracting(Finding::rule).containsExactly("dead-letter-retention", "claim-retention");
        assertThat(findings()).allSatisfy(finding -> {
            assertThat(finding.severity()).isEqualTo(Severity.UNKNOWN);
            assertThat(finding.found()).contains("MessageRetentionPeriod");
        });
    }

    @Test
    void errorFailsStartupIfConfiguredUnlessItsRuleIsSilenced() {
        sqs.redrives(1);
        QueueAudit audit = audit(AuditMode.FAIL);

        assertThatThrownBy(() -> audit.require(orders()))
                .asInstanceOf(type(QueueAuditException.class))
                .satisfies(failure -> {
                    assertThat(failure.problem())
                            .contains("listener 'fulfilment' on queue 'orders'")
                            .contains("max-receive-count");
                    assertThat(failure.remedy())
                            .contains("exactly-once.audit.silence")
                            .contains("exactly-once.audit.mode=warn");
                });
        assertThat(audit.reports()).isEmpty();
        audit(AuditMode.FAIL, "max-receive-count").require(orders());
    }

    @Test
    void warningAndUnknownDoNotFailStartup() {
        sqs.redrives(4).queues.get(ScriptedSqs.DEAD).remove("MessageRetentionPeriod");
        QueueAudit audit = audit(AuditMode.FAIL);

        audit.require(orders());

        assertThat(audit.reports())
                .singleElement()
                .satisfies(report -> assertThat(report.findings()).isNotEmpty());
    }

    @Test
    void nothingIsReadWhereTheAuditIsOff() {
        QueueAudit audit = audit(AuditMode.OFF);
        audit.require(orders());
        audit.subscribed(orders());
        audit.tick();

        assertThat(sqs.asked).isEmpty();
        assertThat(audit.reports()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(AuditMode.class)
    void queueOfAnotherKindIsLeftAlone(AuditMode mode) {
        QueueAudit audit = audit(mode);
        Subscription other =
                new Subscription("fulfilment", "orders", VisibilityWindow.ofSeconds(30), new ScriptedQueue());
        audit.require(other);
        audit.subscribed(other);

        assertThat(audit.reports()).isEmpty();
    }

    @Test
    void attributesThatWereChangedAreLoggedWithOldAndNewValueAndJudgedAnew(CapturedOutput output) {
        QueueAudit audit = audit(AuditMode.WARN);
        Subscription orders = orders();
        audit.subscribed(orders);

        sqs.with(ScriptedSqs.ORDERS, "MessageRetentionPeriod", "1209600")
                .with(ScriptedSqs.ORDERS, "DelaySeconds", "5")
                .with(ScriptedSqs.ORDERS, "ApproximateNumberOfMessages", "7")
                .with(ScriptedSqs.DEAD, "MessageRetentionPeriod", "60");
        audit.tick();

        assertThat(output)
                .contains("The queue of listener 'fulfilment' on queue 'orders' was changed: DelaySeconds unset -> 5, "
                        + "MessageRetentionPeriod 345600 -> 1209600")
                .contains("The dead-letter queue of listener 'fulfilment' on queue 'orders' was changed: "
                        + "MessageRetentionPeriod 1209600 -> 60")
                .contains("dead-letter-retention")
                .doesNotContain("ApproximateNumberOfMessages");
        sqs.with(ScriptedSqs.ORDERS, "RedrivePolicy", "");
        audit.tick();
        assertThat(output).contains("dead-letter queue arn:aws:sqs:eu-central-1:123456789012:orders-dead -> none");
    }

    @Test
    void findingsAreLoggedWhenTheyAreNewAndOnceWhenTheyAreGone(CapturedOutput output) {
        sqs.redrives(1);
        QueueAudit audit = audited();
        audit.tick();
        audit.tick();
        sqs.redrives(5);
        audit.tick();
        audit.tick();

        assertThat(output.toString().split("The audit of")).hasSize(3);
        assertThat(output).contains("found no problems");
    }

    @Test
    void rightToRenewIsCheckedOnceUnlessThereWasNoAnswer() {
        sqs.renewalAnswer = ScriptedSqs.failure(503, "ServiceUnavailable");
        QueueAudit audit = audited();
        sqs.renewalAnswer = ScriptedSqs.failure(400, "ReceiptHandleIsInvalid");
        audit.tick();
        audit.tick();

        assertThat(sqs.asked.stream().filter(asked -> asked.startsWith("visibility")))
                .hasSize(2);
        assertThat(sqs.asked).contains("url orders-dead of 123456789012");
    }

    /** An operator who follows the remedy sees its success. */
    @Test
    void deniedRightIsCheckedAgainUntilItIsGranted(CapturedOutput output) {
        sqs.renewalAnswer = ScriptedSqs.failure(403, "AccessDenied");
        QueueAudit audit = audited();
        assertThat(findings(audit))
                .extracting(Finding::rule, Finding::severity)
                .containsExactly(tuple("renewal-permission", Severity.ERROR));

        sqs.renewalAnswer = ScriptedSqs.failure(400, "ReceiptHandleIsInvalid");
        audit.tick();

        assertThat(findings(audit)).isEmpty();
        assertThat(output).contains("found no problems");
    }

    @ParameterizedTest
    @CsvSource({"403, ExpiredToken", "401, Unauthorized", "400, InvalidSignatureException", "400, RequestThrottled"})
    void answerThatIsNotAboutTheRightLeavesItUnknown(int status, String code) {
        sqs.renewalAnswer = ScriptedSqs.failure(status, code);

        assertFinding("renewal-permission", Severity.UNKNOWN, "could not be read", code);
    }

    @Test
    void listenerWhoseSettingsChangeIsJudgedByThemASecondLater() {
        timer.hold();
        QueueAudit audit = audit(AuditMode.WARN);
        Subscription orders = orders();
        audit.subscribed(orders);
        timer.run();
        assertThat(audit.retryBudget(orders)).isPresent();
        long reads = reads();

        orders.change(new QueueSettings(orders.settings().window(), null));
        audit.changed(orders);
        assertThat(timer.delays()).last().isEqualTo(Duration.ofSeconds(1));
        timer.run();

        assertThat(reads()).isGreaterThan(reads);
        assertThat(audit.retryBudget(orders)).isEmpty();
    }

    @Test
    void attributesThatTheListenerHasReadMeanwhileAreNotRequestedAgain() {
        QueueAudit audit = audit(AuditMode.WARN);
        Subscription orders = orders();
        SqsQueue listener = (SqsQueue) orders.visibility();
        listener.watch(
                new QueueAttributes(Map.of(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES, "11")), read -> {});
        audit.subscribed(orders);
        assertThat(reads()).isZero();
        assertThat(observed).last().returns(11L, QueueObserver.Levels::visible);

        audit.tick();
        assertThat(reads()).isOne();

        sqs.with(ScriptedSqs.ORDERS, "ApproximateNumberOfMessages", "12");
        listener.readAttributes(Duration.ofSeconds(1)).join();
        audit.tick();
        assertThat(reads()).isEqualTo(2);
        assertThat(observed).last().returns(12L, QueueObserver.Levels::visible);
    }

    private long reads() {
        return sqs.asked.stream()
                .filter(("attributes " + ScriptedSqs.ORDERS)::equals)
                .count();
    }

    @Test
    void attributesThatWereJudgedBeforeAreNoAnswerWhereTheyCanBeReadNoMore() {
        QueueAudit audit = audited();
        sqs.attributesRefusal = ScriptedSqs.failure(403, "AccessDenied");

        for (int minute = 1; minute <= 3; minute++) {
            audit.tick();
            assertThat(findings(audit))
                    .extracting(Finding::rule, Finding::severity)
                    .contains(tuple("redrive-policy", Severity.UNKNOWN));
        }
    }

    @Test
    void observersForgetTheQueueOfAListenerThatHasStoppedAlsoWhileItIsRead() {
        List<String> told = new ArrayList<>();
        CompletableFuture<Void> answer = new CompletableFuture<>();
        QueueObserver observer = new QueueObserver() {
            @Override
            public void observed(Subscription subscription, Levels levels) {
                told.add("observed");
            }

            @Override
            public void forgotten(Subscription subscription) {
                told.add("forgotten");
            }
        };
        QueueAudit audit = audit(AuditMode.WARN, Set.of(), List.of(observer));
        Subscription subscription = orders();
        audit.subscribed(subscription);
        sqs.answers = answer;
        int asked = sqs.asked.size();
        CompletableFuture<Void> reading = CompletableFuture.runAsync(audit::tick);
        await().until(() -> sqs.asked.size() > asked);

        audit.unsubscribed(subscription);
        answer.complete(null);
        reading.join();

        assertThat(told).containsExactly("observed", "forgotten");
    }

    @Test
    void observerThatThrowsIsLoggedAndCostsNoOtherWhatWasRead(CapturedOutput output) {
        QueueObserver broken = (subscription, levels) -> {
            throw new IllegalStateException("broken");
        };
        QueueAudit audit =
                audit(AuditMode.WARN, Set.of(), List.of(broken, (subscription, levels) -> observed.add(levels)));
        audit.subscribed(orders());

        assertThat(observed).hasSize(1);
        assertThat(output).contains("failed; the observed work continues").contains("broken");
    }

    @Test
    void levelsAreReportedAsSqsReturnsThem() {
        sqs.with(ScriptedSqs.ORDERS, "ApproximateNumberOfMessages", "7")
                .with(ScriptedSqs.ORDERS, "ApproximateNumberOfMessagesNotVisible", "3");
        findings();

        assertThat(observed).containsExactly(new QueueObserver.Levels(7L, 3L, null, 2L));
    }
}
