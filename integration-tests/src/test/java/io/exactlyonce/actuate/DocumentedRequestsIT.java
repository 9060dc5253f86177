package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.ParkedKeys;
import io.exactlyonce.claim.ClaimBackend;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.testing.DeviatesOn;
import io.exactlyonce.testing.DocumentedCode;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.Shell;
import io.exactlyonce.testing.SqsProduct;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.config.YamlPropertiesFactoryBean;
import org.springframework.boot.WebApplicationType;
import org.springframework.core.io.ByteArrayResource;

/**
 * The {@code curl} commands of the pages for operators, word for word, on an application with the properties of the
 * console's page. Only the address and {@code 4d7e1c02-...}, the claim that the operator saw, are replaced.
 */
@UsesSqs
class DocumentedRequestsIT {

    private static final SqsServer SQS = SqsServer.shared();

    private static final DocumentedCode RUNBOOKS = DocumentedCode.of("runbooks.md");
    private static final DocumentedCode AFTER_A_CRASH = DocumentedCode.of("after-a-crash.md");
    private static final DocumentedCode ENDPOINT = DocumentedCode.of("actuator.md");
    private static final DocumentedCode CONSOLE = DocumentedCode.of("operating.md");

    private static final String ADDRESS = "localhost:8080";
    private static final String SEEN = "4d7e1c02-...";
    private static final Pattern FIELD = Pattern.compile("\"(\\w+)\":");

    private static final String ORDERS_DEAD = SQS.createQueue(30);
    private static final String ORDERS = SQS.createQueue(30, ORDERS_DEAD, 1);
    private static final String CHARGES_DEAD = SQS.createQueue(30);
    private static final String CHARGES = SQS.createQueue(30, CHARGES_DEAD, 1);

    private static final AtomicBoolean IS_PROVIDER_DOWN = new AtomicBoolean();
    private static final Queue<String> EFFECTS = new ConcurrentLinkedQueue<>();

    private static TestApplication application;

    @TempDir
    private Path directory;

    static class Listeners {

        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                scope = "orders",
                key = "#order",
                parkFor = IllegalStateException.class,
                maxAttempts = 3)
        void order(String order) {
            callProvider(order);
        }

        @ExactlyOnceListener(
                id = "charges",
                queueNames = "${test.charges}",
                scope = "charges",
                key = "#charge",
                parkFor = IllegalStateException.class)
        void charge(String charge) {
            callProvider(charge);
        }

        private static void callProvider(String key) {
            if (IS_PROVIDER_DOWN.get()) {
                throw new IllegalStateException("503 Service Unavailable");
            }
            EFFECTS.add(key);
        }
    }

    @BeforeAll
    static void start() {
        YamlPropertiesFactoryBean yaml = new YamlPropertiesFactoryBean();
        yaml.setResources(new ByteArrayResource(CONSOLE.block("console").getBytes(StandardCharsets.UTF_8)));
        Properties documented = Objects.requireNonNull(yaml.getObject());
        Map<String, String> properties = new HashMap<>(Map.of("test.queue", ORDERS, "test.charges", CHARGES));
        documented.stringPropertyNames().forEach(name -> properties.put(name, documented.getProperty(name)));
        application = TestApplication.start(
                WebApplicationType.SERVLET, EmbeddedDatabase.shared().createDatabase(), properties, Listeners.class);
        application.bean(ClaimBackend.class).requireReady();
    }

    @AfterAll
    static void stop() {
        application.close();
    }

    @BeforeEach
    void forget() {
        assumeThat(Shell.has("curl", "curl", "the requests of the documentation are not sent"))
                .isTrue();
        application.database().sql("TRUNCATE exactly_once_claim").update();
        IS_PROVIDER_DOWN.set(false);
        EFFECTS.clear();
    }

    private String run(String commands) throws Exception {
        assertThat(commands).contains(ADDRESS);
        String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
        return new Shell(directory, Map.of()).run(commands.replace(ADDRESS, "127.0.0.1:" + port));
    }

    private static ClaimId claimed(String scope, String key) {
        ClaimRequest request = new ClaimRequest(
                new ClaimId(new ClaimKey(scope, key), UUID.randomUUID()),
                "worker",
                Duration.ofSeconds(30),
                ClaimRequest.InDoubt.PARK,
                null);
        application.bean(ClaimStore.class).claim(List.of(request));
        return request.id();
    }

    private static void end(ClaimResolution resolution) {
        assertThat(application
                        .bean(ClaimStore.class)
                        .resolve(List.of(resolution))
                        .granted())
                .containsExactly(resolution.claim());
    }

    private static ClaimId parked(String scope, String key) {
        ClaimId claim = claimed(scope, key);
        end(new ClaimResolution.Parked(claim, "java.net.SocketTimeoutException: Read timed out", true));
        return claim;
    }

    private static List<ParkedClaim> park(String queue, String deadLetters, String... messages) {
        IS_PROVIDER_DOWN.set(true);
        for (String message : messages) {
            SQS.send(queue, message);
        }
        await().until(() ->
                application.claims("PARKED") == messages.length && SQS.size(deadLetters) == messages.length);
        IS_PROVIDER_DOWN.set(false);
        return application.bean(ParkedKeys.class).list(messages.length);
    }

    private static void assertRedriven(String response, String queue, String deadLetters, int completed) {
        assertThat(response).contains("\"redriven\":[\"arn:aws:sqs:").contains(deadLetters);
        await().until(() ->
                application.claims("COMPLETED") == completed && SQS.size(deadLetters) == 0 && SQS.size(queue) == 0);
    }

    /** One key is completed, because its effect has happened, and the other one is released. */
    @Test
    @DeviatesOn(server = SqsProduct.MOTO, reason = "it has no StartMessageMoveTask")
    void keysThatAnIncidentParkedAreDecidedAndRedriven() throws Exception {
        ParkedKeys keys = application.bean(ParkedKeys.class);
        List<ParkedClaim> seen = park(ORDERS, ORDERS_DEAD, "A-1", "A-2");
        assertThat(keys.completeAll(seen.subList(0, 1))).isEmpty();
        assertThat(keys.releaseAll(seen.subList(1, 2))).isEmpty();

        assertRedriven(run(RUNBOOKS.block("redrive")), ORDERS, ORDERS_DEAD, 2);

        assertThat(EFFECTS).containsExactly(seen.get(1).key());
    }

    @Test
    @DeviatesOn(server = SqsProduct.MOTO, reason = "it has no StartMessageMoveTask")
    void parkedKeyIsCompletedOrReleasedAndRedriven() throws Exception {
        String[] decisions = AFTER_A_CRASH.block("decide").split("(?m)^ *# .*$");
        ClaimId charged = parked("charges", "A-1");

        assertThat(run(decisions[1].replace(SEEN, charged.value().toString()))).contains("{\"decided\":true");

        assertThat(application.claims("COMPLETED")).isEqualTo(1);
        application.database().sql("TRUNCATE exactly_once_claim").update();
        ParkedClaim seen = park(CHARGES, CHARGES_DEAD, "A-1").get(0);

        assertThat(run(decisions[2].replace(SEEN, seen.claimId().toString()))).contains("{\"decided\":true");
        assertRedriven(run(AFTER_A_CRASH.block("redrive")), CHARGES, CHARGES_DEAD, 1);

        assertThat(EFFECTS).containsExactly("A-1");
        assertThat(decisions).hasSize(3);
    }

    @Test
    void downstreamKeyIsTheHashThatTheShellComputes() throws Exception {
        assumeThat(Shell.has("sha256sum", "coreutils", "the hash of a key is not computed"))
                .isTrue();
        String command = AFTER_A_CRASH.part("`(printf [^`]*sha256sum)`");

        assertThat(new Shell(directory, Map.of()).run(command))
                .startsWith(new ClaimKey("charges", "A-1").downstreamKey() + " ");
    }

    @Test
    void claimIsShownByItsKeyAndByItsHash() throws Exception {
        ClaimId claim = claimed("orders", "order-0003");
        end(new ClaimResolution.Completed(claim, null));
        String block = ENDPOINT.block("one-claim");

        List<String> commands = commands(block);

        assertThat(commands).hasSize(2);
        for (String command : commands) {
            assertThat(fields(run(command))).as(command).containsAll(fields(block));
        }
    }

    @Test
    void parkedKeysAreListedWithTheFieldsOfThePage() throws Exception {
        parked("orders", "A-1");
        parked("orders", "A-2");
        String block = ENDPOINT.block("parked");

        List<String> commands = commands(block);

        assertThat(commands).hasSize(1);
        assertThat(fields(run(commands.get(0)))).containsExactlyInAnyOrderElementsOf(fields(block));
    }

    @Test
    void consoleIsServedAndMayDecide() throws Exception {
        String path = CONSOLE.part("Open `(/actuator/\\w+)`");

        String page = run("curl -s -f " + ADDRESS + path);

        assertThat(page).startsWithIgnoringCase("<!doctype html>").doesNotContain("{api}", "{write}");
        for (String endpoint : List.of("health", "prometheus", "exactlyonce")) {
            assertThat(run("curl -s -f " + ADDRESS + "/actuator/" + endpoint)).isNotEmpty();
        }
    }

    private static List<String> commands(String block) {
        return block.lines()
                .filter(line -> line.startsWith("$ "))
                .map(line -> line.substring(2))
                .toList();
    }

    private static List<String> fields(String json) {
        return FIELD.matcher(json)
                .results()
                .map(field -> field.group(1))
                .distinct()
                .toList();
    }
}
