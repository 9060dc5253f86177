package smoke;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;

/** The packaged application, in a process of its own on the JDK that is tested. */
final class Worker implements AutoCloseable {

    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
    private static final Pattern JAVA = Pattern.compile("using Java (\\S+)");

    private final HttpClient client = HttpClient.newHttpClient();
    private final Path jar = Path.of(System.getProperty("smoke.jar"));
    private final Path log = jar.resolveSibling("smoke.log");
    private final Process process;

    Worker(Path java, Map<String, String> environment) throws IOException {
        var builder = new ProcessBuilder(java.toString(), "-jar", jar.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        process = builder.start();
    }

    Worker awaitStart() {
        Awaitility.await("the application's start, see " + log)
                .atMost(Duration.ofMinutes(1))
                .failFast("the application ended, see " + log, () -> !process.isAlive())
                .until(() -> text().contains("Started Application"));
        return this;
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        URI address = URI.create("http://localhost:" + found(PORT) + "/actuator/" + path);
        return client.send(
                HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(10)).build(), BodyHandlers.ofString());
    }

    /** Returns the Java version of the process. */
    String java() throws IOException {
        return found(JAVA);
    }

    private String found(Pattern pattern) throws IOException {
        Matcher matcher = pattern.matcher(text());
        if (!matcher.find()) {
            throw new IllegalStateException("The log has no '%s'".formatted(pattern));
        }
        return matcher.group(1);
    }

    /** Returns the lines of a level. */
    List<String> lines(String level) throws IOException {
        return text().lines().filter(line -> line.contains(" " + level + " ")).toList();
    }

    private String text() throws IOException {
        return Files.readString(log);
    }

    /** Stops the application as Kubernetes does, and returns its exit code. */
    int stop() throws InterruptedException {
        process.destroy();
        if (!process.waitFor(30, TimeUnit.SECONDS)) {
            throw new IllegalStateException("The application did not stop within 30 s");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
