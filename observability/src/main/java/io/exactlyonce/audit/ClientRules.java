package io.exactlyonce.audit;

import static io.exactlyonce.audit.AuditRules.say;

import io.exactlyonce.audit.Finding.Severity;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that the SQS client has enough connections, and that its timeouts are long enough for polls. A poll occupies a
 * connection until messages arrive, for up to 20 s.
 */
final class ClientRules {

    /** The audit advises one connection for each poll, and this many for other requests. */
    private static final int SPARE_CONNECTIONS = 50;

    private final QueueFacts.Client client;
    private final List<Finding> findings = new ArrayList<>();

    private ClientRules(QueueFacts.Client client) {
        this.client = client;
    }

    static List<Finding> findings(QueueFacts.Client client) {
        ClientRules rules = new ClientRules(client);
        rules.judgeConnections();
        rules.judgeTimeouts();
        return rules.findings;
    }

    private void judgeConnections() {
        Integer connections = client.connections();
        if (connections != null && client.polls() >= connections) {
            String found =
                    "up to %d polls of one SqsAsyncClient wait for messages at a time, and its HTTP client has %d connections: renewals and deletions wait until a poll ends"
                            .formatted(client.polls(), connections);
            String remedy =
                    "give it more, in a SqsAsyncClientCustomizer: NettyNioAsyncHttpClient.builder().maxConcurrency(%d)"
                            .formatted(client.polls() + SPARE_CONNECTIONS);
            findings.add(new Finding(
                    "sqs-connections", Severity.WARNING, found, "more connections than polls that wait", remedy));
        }
    }

    /**
     * Checks that no timeout of the client ends a poll too early. A short timeout of the HTTP client is reported as a
     * warning. A short timeout of the SDK is reported only as a note, because the listener sets a longer one for its
     * polls.
     */
    private void judgeTimeouts() {
        Duration patience = client.patience();
        Duration attempt = client.attemptTimeout();
        Duration call = client.callTimeout();
        if (patience != null && ends(patience)) {
            judgeTimeout(
                    Severity.WARNING,
                    say(
                            "the SqsAsyncClient gives up after about %s, the poll timeout is %s: each poll of an idle queue fails, and hides the messages that arrive as it is given up",
                            patience, client.pollTimeout()),
                    "raise the client's timeouts in a SqsAsyncClientCustomizer, such as NettyNioAsyncHttpClient.builder().readTimeout(...)");
        } else if (attempt != null && ends(attempt)) {
            judgeConfigured("apiCallAttemptTimeout", attempt);
        } else if (call != null && ends(call)) {
            judgeConfigured("apiCallTimeout", call);
        }
    }

    private void judgeConfigured(String name, Duration timeout) {
        judgeTimeout(
                Severity.NOTE,
                say(
                        "%s of the SqsAsyncClient is %s, the poll timeout is %s: the %s of polls counts from the end of their wait",
                        name, timeout, client.pollTimeout(), name),
                "raise %s in a SqsAsyncClientCustomizer".formatted(name));
    }

    private void judgeTimeout(Severity severity, String found, String remedy) {
        findings.add(new Finding(
                "poll-timeout",
                severity,
                found,
                "client timeouts longer than the poll timeout",
                remedy + ", or lower pollTimeoutSeconds"));
    }

    private boolean ends(Duration timeout) {
        return timeout.compareTo(client.pollTimeout()) <= 0;
    }
}
