package io.exactlyonce.sample.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.sample.IncidentLab;
import io.exactlyonce.sample.lab.Console;
import io.exactlyonce.sample.lab.LabException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The page's server, without workers: what it serves, what it does, and what it refuses. */
class LivePageServerIT {

    private static final Console CONSOLE = new Console(System.out, false);
    private static final LiveSettings SETTINGS = new LiveSettings(0, Duration.ofSeconds(4), 60, Duration.ofSeconds(50));

    private static LiveLab lab;

    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void open() throws Exception {
        lab = LiveLab.open(SETTINGS, CONSOLE, IncidentLab.class);
    }

    @AfterAll
    static void close() {
        lab.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"/", "/lab.js", "/latency.js", "/lab.css", "/icon.svg", "/webjars/chart.js/dist/chart.umd.min.js"
            })
    void pageAndAllOfItsFilesAreServedAndMayLoadNothingFromElsewhere(String path) throws Exception {
        HttpResponse<String> response = get(path);

        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isNotBlank().doesNotContain("http-equiv");
        assertThat(response.headers().firstValue("Content-Security-Policy"))
                .hasValueSatisfying(policy -> assertThat(policy).startsWith("default-src 'self'"));
    }

    @Test
    void serverListensOnLoopbackOnly() {
        try (LivePage.Running page = LivePage.start(lab, 0)) {
            ServletWebServerApplicationContext context = (ServletWebServerApplicationContext) page.context();
            TomcatWebServer server = (TomcatWebServer) context.getWebServer();

            assertThat(server.getTomcat().getConnector().getProperty("address"))
                    .isEqualTo(InetAddress.getLoopbackAddress());
        }
    }

    @Test
    void otherNamesThatLeadHereAreRefused() throws Exception {
        assertThat(answer("GET / HTTP/1.1", "Host: example.com")).startsWith("HTTP/1.1 403 ");
        assertThat(answer("GET /events HTTP/1.1", "Host: example.com")).startsWith("HTTP/1.1 403 ");
        assertThat(answer("GET / HTTP/1.1", "Host: localhost")).startsWith("HTTP/1.1 200 ");
    }

    @Test
    void otherSitesPagesCanPressNoButton() throws Exception {
        HttpResponse<String> plain = client.send(
                HttpRequest.newBuilder(lab.url().resolve("/redeliver"))
                        .header("Content-Type", "text/plain")
                        .POST(BodyPublishers.ofString("{}"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(plain.statusCode()).isEqualTo(415);

        // What a browser asks before it sends JSON for another site's page.
        String preflight = answer(
                "OPTIONS /redeliver HTTP/1.1",
                "Host: 127.0.0.1",
                "Origin: https://example.com",
                "Access-Control-Request-Method: POST",
                "Access-Control-Request-Headers: content-type");
        assertThat(preflight).doesNotContainIgnoringCase("Access-Control-Allow");
    }

    @Test
    void eventsTellHowThingsStandWhileWorkersStart() throws Exception {
        HttpResponse<Stream<String>> response =
                client.send(HttpRequest.newBuilder(lab.url().resolve("/events")).build(), BodyHandlers.ofLines());
        try (Stream<String> lines = response.body()) {
            JsonNode tick = lines.dropWhile(line -> !line.equals("event:tick"))
                    .filter(line -> line.startsWith("data:"))
                    .map(line -> JsonMapper.shared().readTree(line.substring("data:".length())))
                    .findFirst()
                    .orElseThrow();

            assertThat(tick.required("isRunning").asBoolean()).isFalse();
            assertThat(tick.required("sentBeforeTrouble").asInt()).isEqualTo(60);
            assertThat(tick.required("naive")
                            .required("takings")
                            .required("charges")
                            .asLong())
                    .isZero();
        }
    }

    @Test
    void windowIsChangedWithinItsBounds() throws Exception {
        assertThat(post("/window", "{\"seconds\":8}")).isEqualTo(204);
        assertThat(lab.look().windowSeconds()).isEqualTo(8);

        assertThat(post("/window", "{\"seconds\":0}")).isEqualTo(400);
        assertThat(post("/window", "{\"seconds\":61}")).isEqualTo(400);
        assertThat(post("/window", "many")).isEqualTo(400);
        assertThat(lab.look().windowSeconds()).isEqualTo(8);
    }

    @Test
    void partnerIsSlowedDownAndRecovers() throws Exception {
        assertThat(post("/partner", "{\"on\":true}")).isEqualTo(204);
        assertThat(lab.look().isPartnerSlow()).isTrue();
        assertThat(post("/partner", "{\"on\":false}")).isEqualTo(204);
        assertThat(lab.look().isPartnerSlow()).isFalse();
    }

    @Test
    void replicaIsMadeToLag() throws Exception {
        assertThat(post("/replica", "{\"on\":true}")).isEqualTo(204);
        assertThat(lab.look().replicaDelaySeconds()).isEqualTo(10);
        assertThat(post("/replica", "{\"on\":false}")).isEqualTo(204);
        assertThat(lab.look().replicaDelaySeconds()).isZero();
    }

    @Test
    void noWorkerCanBeKilledBeforeThereAreTwoOfEachKind() throws Exception {
        assertThat(post("/kill", "{}")).isEqualTo(409);
    }

    @Test
    void portThatIsInUseIsNamed() {
        LiveSettings taken = SETTINGS.withPort(lab.url().getPort());

        assertThatThrownBy(() -> LivePage.start(lab, taken.port()))
                .isInstanceOf(LabException.class)
                .hasMessage("Port %d is in use; choose another with --serve=PORT", taken.port());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(lab.url().resolve(path)).build(), BodyHandlers.ofString());
    }

    private int post(String path, String body) throws IOException, InterruptedException {
        URI uri = lab.url().resolve(path);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body))
                .build();
        return client.send(request, BodyHandlers.discarding()).statusCode();
    }

    /** Asks with headers that Java's own client does not let be set. */
    private static String answer(String request, String... headers) throws IOException {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), lab.url().getPort())) {
            OutputStream out = socket.getOutputStream();
            String head = request + "\r\n" + String.join("\r\n", headers) + "\r\nConnection: close\r\n\r\n";
            out.write(head.getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
