package io.exactlyonce.sample.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.sample.IncidentLab;
import io.exactlyonce.sample.lab.Console;
import io.exactlyonce.sample.lab.Kind;
import io.exactlyonce.sample.lab.LabException;
import io.exactlyonce.sample.lab.Workspace;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.test.util.ReflectionTestUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The server of the lab's page, without workers: files that it serves, actions of its buttons, and requests that it
 * refuses.
 */
class LivePageServerIT {

    private static final Console CONSOLE = new Console(System.out, false);
    private static final LiveSettings SETTINGS = new LiveSettings(0, Duration.ofSeconds(4), Duration.ofSeconds(50));

    private static LiveLab lab;

    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void open() throws Exception {
        lab = LiveLab.open(SETTINGS, Workspace.create(), CONSOLE, IncidentLab.class);
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
        assertThat(response.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
        assertThat(response.headers().firstValue("Cache-Control")).hasValue("no-store");
        assertThat(response.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith(typeOf(path)));
    }

    private static String typeOf(String path) {
        return switch (path.substring(path.lastIndexOf('.') + 1)) {
            case "js" -> "text/javascript";
            case "css" -> "text/css";
            case "svg" -> "image/svg+xml";
            default -> "text/html";
        };
    }

    /** Files beside the page on the class path: configurations of workers, and classes. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/application.yml",
                "/../application.yml",
                "/%2e%2e/application.yml",
                "/..%2fapplication.yml",
                "/..%5capplication.yml",
                "/..;/application.yml",
                "/webjars/../application.yml",
                "/webjars/%2e%2e/%2e%2e/%2e%2e/application.yml",
                "/webjars/..;/..;/..;/application.yml",
                "/webjars/chart.js/..%2f..%2f..%2f..%2fapplication.yml",
                "//application.yml",
                "/./application.yml",
                "/static/../application.yml",
                "/io/exactlyonce/sample/IncidentLab.class",
                "/META-INF/MANIFEST.MF",
                "/WEB-INF/web.xml",
                "/file:///etc/passwd",
                "/..%00/application.yml",
                "/actuator/env"
            })
    void nothingElseIsServed(String path) throws Exception {
        assertThat(answer("GET " + path + " HTTP/1.1", "Host: 127.0.0.1"))
                .startsWith("HTTP/1.1 40")
                .doesNotContain("datasource", "exactly-once", "Tomcat", "Exception");
    }

    @Test
    void refusalsSayNothingOfTheServer() throws Exception {
        String json = "Content-Type: application/json";
        for (String refusal : List.of(
                answer("TRACE / HTTP/1.1", "Host: 127.0.0.1"),
                answer("DELETE /window HTTP/1.1", "Host: 127.0.0.1"),
                answer("POST /window HTTP/1.1", "Host: 127.0.0.1", json, "Content-Length: 0"),
                answer("GET /events HTTP/1.1", "Host: 127.0.0.1", "Accept: image/png"),
                answer("GET / HTTP/1.1", "Host: 127.0.0.1:port"),
                answer("NOTHING"))) {
            assertThat(refusal)
                    .startsWith("HTTP/1.1 4")
                    .doesNotContain("Tomcat", "Exception", "io.exactlyonce", "\tat ");
        }
    }

    /** A server can be reached at another address of this machine only if it listens on all addresses. */
    @Test
    void allServersOfTheLabListenOnLoopbackOnly() throws Exception {
        LiveServers servers = (LiveServers) ReflectionTestUtils.getField(lab, "servers");
        String addresses = lab.url() + " " + servers.environment(Kind.EXACTLY_ONCE);

        List<Integer> ports = Pattern.compile("(?:127\\.0\\.0\\.1|localhost):(\\d+)")
                .matcher(addresses)
                .results()
                .map(port -> Integer.valueOf(port.group(1)))
                .toList();

        assertThat(ports).as("page, database, replica, queues in %s", addresses).hasSize(4);
        for (int port : ports) {
            new Socket(InetAddress.getLoopbackAddress(), port).close();
            assertThatThrownBy(() -> new Socket("127.0.0.2", port))
                    .as("port %d of %s", port, addresses)
                    .isInstanceOf(ConnectException.class);
        }
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
        assertThat(answer("GET / HTTP/1.1", "Host: 127.0.0.1.example.com")).startsWith("HTTP/1.1 403 ");
        assertThat(answer("GET / HTTP/1.1", "Host: 127.0.0.2")).startsWith("HTTP/1.1 403 ");
        assertThat(answer("GET / HTTP/1.1", "Host: example.com", "X-Forwarded-Host: 127.0.0.1"))
                .startsWith("HTTP/1.1 403 ");
        assertThat(answer("GET http://127.0.0.1/ HTTP/1.1", "Host: example.com"))
                .startsWith("HTTP/1.1 4");
        assertThat(answer("GET / HTTP/1.1")).startsWith("HTTP/1.1 4");
        assertThat(answer("GET / HTTP/1.1", "Host: localhost")).startsWith("HTTP/1.1 200 ");
    }

    /** Requests that browsers send without a preflight: forms, and requests without a body. */
    @ParameterizedTest
    @ValueSource(strings = {"/partner", "/replica", "/kill", "/redeliver", "/window"})
    void otherSitesPagesCanPressNoButton(String button) throws Exception {
        for (String type : List.of("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")) {
            assertThat(post(button, "{\"on\":true,\"seconds\":9}", "Content-Type", type))
                    .as(type)
                    .isEqualTo(415);
        }
        assertThat(answer("POST " + button + " HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 0"))
                .startsWith("HTTP/1.1 415 ");

        // The preflight request of a browser before it sends JSON for another site's page.
        String preflight = answer(
                "OPTIONS " + button + " HTTP/1.1",
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

            assertThat(tick.required("chapter").asString()).isEqualTo("STARTING");
            assertThat(tick.required("flowsSince").asDouble()).isZero();
            assertThat(tick.required("naive").required("ready").size()).isZero();
            assertThat(tick.required("naive")
                            .required("takings")
                            .required("charges")
                            .asLong())
                    .isZero();
        }
    }

    @Test
    void visibilityTimeoutIsChangedWithinItsBounds() throws Exception {
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

    /** The command runs as a user starts it. The lab logs into a directory of its own, and removes the directory. */
    @Test
    @Tag("ci")
    void commandLeavesNoFileWhereItIsStarted(@TempDir Path directory) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        IncidentLab.class.getName(),
                        "--serve=" + lab.url().getPort())
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        try (BufferedReader output = process.inputReader()) {
            assertThat(output.lines()).last().asString().matches("FAILED: Port \\d+ is in use; .*");
        }

        assertThat(process.waitFor()).isEqualTo(1);
        assertThat(directory).isEmptyDirectory();
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(lab.url().resolve(path)).build(), BodyHandlers.ofString());
    }

    private int post(String path, String body) throws IOException, InterruptedException {
        return post(path, body, "Content-Type", "application/json");
    }

    private int post(String path, String body, String... headers) throws IOException, InterruptedException {
        URI uri = lab.url().resolve(path);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .headers(headers)
                .POST(BodyPublishers.ofString(body))
                .build();
        return client.send(request, BodyHandlers.discarding()).statusCode();
    }

    /** Sends headers that Java's own client does not permit to set. */
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
