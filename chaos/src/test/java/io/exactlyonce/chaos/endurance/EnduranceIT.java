package io.exactlyonce.chaos.endurance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.chaos.history.Checker;
import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.History;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Partner;
import io.exactlyonce.chaos.history.Recorder;
import io.exactlyonce.chaos.history.RecorderServer;
import io.exactlyonce.chaos.history.Terms;
import io.exactlyonce.chaos.history.Verdict;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.databind.json.JsonMapper;

/**
 * Handlers of up to nine seconds with a visibility timeout of two, and a tenth of all messages sent twice, over two
 * workers. The test causes no faults. No effect may happen twice, and no message may end in the dead-letter queue. The
 * full size is {@code -Dendurance.messages=2000}.
 */
class EnduranceIT {

    private static final Logger log = LoggerFactory.getLogger(EnduranceIT.class);

    private static final int MESSAGES = Integer.getInteger("endurance.messages", 200);
    private static final int CONCURRENCY = Integer.getInteger("endurance.concurrency", 25);
    private static final int WINDOW_SECONDS = 2;
    private static final int LONGEST_MILLIS = 9_000;
    private static final int SEED = 4;
    private static final List<String> WORKERS = List.of("w1", "w2");
    private static final Duration START = Duration.ofMinutes(5);

    /** Twice the time that two workers need, plus the time of the last handlers and waiting deliveries. */
    private static final Duration PATIENCE =
            Duration.ofSeconds(60 + MESSAGES * (LONGEST_MILLIS / 1_000L) / (2L * CONCURRENCY));

    /**
     * The files are kept after the run, so that the history can be judged again and the workers' output can be read.
     */
    private final Path directory = Path.of("target", "endurance");

    private final JsonMapper mapper = JsonMapper.builder().build();

    @Test
    void everyEffectHappensOnceAndNoMessageIsDeadLettered() throws Exception {
        Files.createDirectories(directory);
        int deadLetters;
        try (EnduranceServers servers = new EnduranceServers(WINDOW_SECONDS);
                Recorder recorder = new Recorder(file());
                RecorderServer server = new RecorderServer(recorder)) {
            run(servers, recorder, server.port());
            deadLetters = servers.deadLetters();
            JdbcClient.create(servers.database())
                    .sql("SELECT key, status FROM exactly_once_claim")
                    .query((row, number) ->
                            Event.of(Kind.STATE).on(row.getString("key")).with(Detail.STATUS, row.getString("status")))
                    .list()
                    .forEach(recorder::record);
        }
        History history = History.read(file());
        EnduranceFigures figures = EnduranceFigures.of(history, counts());
        log.info("{}", figures);

        judge(history);
        assertThat(deadLetters).isZero();
        assertThat(figures.mostReceives()).isLessThanOrEqualTo(EnduranceServers.MAX_RECEIVES);
        assertThat(figures.ratioToTimers()).isLessThan(0.5);
    }

    private void judge(History history) {
        Verdict verdict =
                new Checker(new Terms(PATIENCE, PATIENCE, Duration.ZERO, Duration.ZERO, false)).judge(history);
        log.info("{}", verdict.line(SEED));

        assertThat(verdict.violations()).isEmpty();
        assertThat(verdict.explained()).isEmpty();
        assertThat(history.events().stream().filter(event -> event.kind() == Kind.EFFECT))
                .extracting(Event::key)
                .doesNotHaveDuplicates()
                .hasSize(MESSAGES);
    }

    private void run(EnduranceServers servers, Recorder recorder, int port) throws Exception {
        try (EnduranceJvm first = start(WORKERS.get(0), servers, port);
                EnduranceJvm second = start(WORKERS.get(1), servers, port)) {
            await().atMost(START).until(() -> started() == 2 || !first.isAlive() || !second.isAlive());
            for (Job job : jobs()) {
                recorder.record(Event.of(Kind.SENDING)
                        .on(job.key())
                        .with(Detail.EFFECTS, "EXTERNAL")
                        .with(Detail.POLICY, "RERUN")
                        .with(Detail.PARTNER, Partner.IGNORES_KEY));
                servers.send(mapper.writeValueAsString(job));
                recorder.record(Event.of(Kind.SENT).on(job.key()));
            }
            recorder.record(Event.of(Kind.FAULTS_OVER));
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(200))
                    .until(() -> servers.left() == 0 || !first.isAlive() || !second.isAlive());
            assertThat(first.isAlive()).as(first.output()).isTrue();
            assertThat(second.isAlive()).as(second.output()).isTrue();
            recorder.record(Event.of(Kind.DRAINED));
            assertThat(first.stop(60)).as(first.output()).isTrue();
            assertThat(second.stop(60)).as(second.output()).isTrue();
        }
    }

    private EnduranceJvm start(String worker, EnduranceServers servers, int recorder) throws Exception {
        Files.deleteIfExists(countsOf(worker));
        Map<String, String> properties = new HashMap<>(servers.properties());
        properties.put("endurance.queue", EnduranceServers.QUEUE);
        properties.put("endurance.concurrency", String.valueOf(CONCURRENCY));
        properties.put("endurance.window", String.valueOf(WINDOW_SECONDS));
        properties.put("endurance.recorder", String.valueOf(recorder));
        properties.put("endurance.worker", worker);
        properties.put("endurance.counts", countsOf(worker).toString());
        properties.put("spring.config.name", "endurance");
        properties.put("spring.main.web-application-type", "none");
        properties.put("spring.main.banner-mode", "off");
        return EnduranceJvm.start(properties, directory.resolve(worker + ".log"));
    }

    private Path file() {
        return directory.resolve("history.jsonl");
    }

    private long started() throws Exception {
        return History.read(file()).events().stream()
                .filter(event -> event.kind() == Kind.STARTED)
                .count();
    }

    /** Every key, a tenth of them twice, in random order. */
    private static List<Job> jobs() {
        Random random = new Random(SEED);
        List<Job> jobs = new ArrayList<>();
        for (int number = 0; number < MESSAGES; number++) {
            Job job = new Job("order-" + number, random.nextInt(LONGEST_MILLIS + 1));
            jobs.add(job);
            if (number % 10 == 0) {
                jobs.add(job);
            }
        }
        Collections.shuffle(jobs, random);
        return jobs;
    }

    private Path countsOf(String worker) {
        return directory.resolve(worker + ".properties");
    }

    private List<Properties> counts() throws Exception {
        List<Properties> all = new ArrayList<>();
        for (String worker : WORKERS) {
            Properties counts = new Properties();
            try (Reader file = Files.newBufferedReader(countsOf(worker))) {
                counts.load(file);
            }
            all.add(counts);
        }
        return all;
    }
}
