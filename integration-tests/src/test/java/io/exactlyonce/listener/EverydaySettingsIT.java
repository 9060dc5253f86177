package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.BlockingListener.Call;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import io.exactlyonce.testing.WorkerProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;

/**
 * Settings of an application, its database, and its machine. Each works as with {@code @SqsListener}, or startup
 * explains why not.
 */
@Tag("ci")
@UsesSqs
@ExtendWith(OutputCaptureExtension.class)
class EverydaySettingsIT {

    private static final SqsServer SQS = SqsServer.shared();

    static class Shop {
        private final JdbcClient jdbc;

        Shop(JdbcClient jdbc) {
            this.jdbc = jdbc;
        }

        @Transactional
        @ExactlyOnceListener(id = "external", queueNames = "${test.external}", key = "#order")
        public void external(String order) {
            sell("external");
        }

        @ExactlyOnceListener(
                id = "database",
                queueNames = "${test.database}",
                key = "#order",
                effects = Effects.DATABASE)
        public void database(String order) {
            sell("database");
        }

        private void sell(String effects) {
            jdbc.sql("INSERT INTO public.sale VALUES (?)").param(effects).update();
        }
    }

    /** Settings of a database or a role that change how texts, times and numbers are read and written. */
    private static final List<String> FORMATS = List.of(
            "DateStyle TO 'SQL, DMY'",
            "TimeZone TO 'Asia/Kolkata'",
            "IntervalStyle TO 'iso_8601'",
            "bytea_output TO 'escape'",
            "extra_float_digits TO -15",
            "standard_conforming_strings TO off",
            "default_transaction_deferrable TO on",
            "transform_null_equals TO on");

    private final String database = EmbeddedDatabase.shared().createDatabase();
    private final JdbcClient jdbc = JdbcClient.create(EmbeddedDatabase.shared().dataSource(database));

    static Stream<Arguments> settings() {
        return Stream.of(
                Arguments.of(Map.of("spring.datasource.hikari.auto-commit", "false")),
                Arguments.of(Map.of("spring.datasource.connection-fetch", "lazy")),
                Arguments.of(Map.of(
                        "spring.datasource.connection-fetch", "lazy", "spring.datasource.hikari.auto-commit", "false")),
                Arguments.of(Map.of("spring.datasource.hikari.transaction-isolation", "TRANSACTION_SERIALIZABLE")),
                Arguments.of(Map.of("spring.datasource.hikari.schema", "audit")),
                Arguments.of(Map.of("url", "?currentSchema=%22Shop%22,public")),
                Arguments.of(Map.of("spring.datasource.hikari.maximum-pool-size", "1")),
                Arguments.of(Map.of("spring.main.lazy-initialization", "true")),
                Arguments.of(Map.of("management.metrics.enable.all", "false")),
                Arguments.of(Map.of("management.observations.enable.all", "false")),
                Arguments.of(Map.of(
                        "spring.application.name",
                        "Büro \"Łódź\" ' ; -- %s ${".substring(0, 22).repeat(9))),
                Arguments.of(Map.of(
                        "url",
                        "?prepareThreshold=0&stringtype=unspecified&reWriteBatchedInserts=true&autosave=always"
                                + "&binaryTransfer=false&defaultRowFetchSize=1")));
    }

    /** Each message is sent twice. */
    @ParameterizedTest
    @MethodSource("settings")
    void effectsHappenOnce(Map<String, String> settings) {
        jdbc.sql("CREATE SCHEMA audit").update();
        jdbc.sql("CREATE SCHEMA \"Shop\"").update();
        String name = database.substring(database.lastIndexOf('/') + 1);
        FORMATS.forEach(format ->
                jdbc.sql("ALTER DATABASE %s SET %s".formatted(name, format)).update());
        jdbc.sql("CREATE TABLE sale (effects text)").update();
        Map<String, String> all = new HashMap<>(settings);
        String url = database + settings.getOrDefault("url", "");
        all.remove("url");
        all.put("test.external", SQS.createQueue(3));
        all.put("test.database", SQS.createQueue(3));

        try (TestApplication application = TestApplication.start(url, all, Shop.class)) {
            for (String queue : List.of(all.get("test.external"), all.get("test.database"))) {
                SQS.send(queue, "o1");
                SQS.send(queue, "o1");
                SQS.awaitEmpty(queue);
            }

            assertThat(application.texts("SELECT effects FROM sale")).containsExactlyInAnyOrder("external", "database");
            assertThat(completed()).isEqualTo(2);
        }
    }

    /** The table is in the first schema of the application's search path. */
    private int completed() {
        String table = jdbc.sql("SELECT oid::regclass::text FROM pg_class WHERE relname = 'exactly_once_claim'")
                .query(String.class)
                .single();
        return jdbc.sql("SELECT count(*) FROM " + table + " WHERE status = 'COMPLETED'")
                .query(Integer.class)
                .single();
    }

    /** Every transaction of such a pool is refused by PostgreSQL. */
    @Test
    void poolThatOnlyReadsFailsStartup(CapturedOutput output) {
        assertThatThrownBy(() -> TestApplication.start(
                                database,
                                Map.of(
                                        "test.external",
                                        SQS.createQueue(3),
                                        "test.database",
                                        SQS.createQueue(3),
                                        "spring.datasource.hikari.read-only",
                                        "true"),
                                Shop.class)
                        .close())
                .isInstanceOf(Exception.class);

        assertThat(output).contains("APPLICATION FAILED TO START", "read-only");
    }

    private static void stopAndStart(ConfigurableApplicationContext context) {
        context.stop();
        context.start();
    }

    private static void pauseAndRestart(ConfigurableApplicationContext context) {
        context.pause();
        context.restart();
    }

    static Stream<Arguments> restarts() {
        return Stream.of(
                Arguments.of(named(EverydaySettingsIT::stopAndStart)),
                Arguments.of(named(ConfigurableApplicationContext::restart)),
                Arguments.of(named(EverydaySettingsIT::pauseAndRestart)));
    }

    private static Consumer<ConfigurableApplicationContext> named(Consumer<ConfigurableApplicationContext> restart) {
        return restart;
    }

    /** Spring's test context pauses contexts that no test class uses, and restarts them later. */
    @ParameterizedTest
    @MethodSource("restarts")
    void contextThatIsRestartedClaimsAndRenews(Consumer<ConfigurableApplicationContext> restart) {
        String queue = SQS.createQueue(2);
        try (TestApplication application = TestApplication.on(queue, BlockingListener.class)) {
            BlockingListener listener = application.bean(BlockingListener.class);
            restart.accept(application.context());
            double leases = application.renewals("lease", "succeeded");
            double windows = application.renewals("window", "succeeded");
            SQS.send(queue, "o1");
            await().until(() -> listener.calls().size() == 1);
            await().until(() -> application.renewals("lease", "succeeded") > leases);
            await().until(() -> application.renewals("window", "succeeded") > windows);
            listener.finish();

            SQS.awaitEmpty(queue);
            assertThat(listener.calls()).containsExactly(new Call("o1", 1, false));
            assertThat(application.claims("COMPLETED")).isEqualTo(1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Parent {}

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Child {}

    /** Both contexts have the starter's auto-configuration. */
    @Test
    void listenerOfAChildContextBesideAParentWithTheStarter(CapturedOutput output) {
        String queue = SQS.createQueue(3);
        String[] arguments = TestApplication.arguments(database, Map.of("test.queue", queue));
        SpringApplicationBuilder family = new SpringApplicationBuilder(Parent.class)
                .web(WebApplicationType.NONE)
                .properties(Map.of("spring.jmx.enabled", "false"))
                .child(Child.class, Orders.class)
                .web(WebApplicationType.NONE);

        ConfigurableApplicationContext child = family.run(arguments);
        try (ConfigurableApplicationContext parent = (ConfigurableApplicationContext) child.getParent();
                child) {
            assertThat(parent).isNotNull();
            SQS.send(queue, "o1");
            SQS.awaitEmpty(queue);
            assertThat(child.getBean(Orders.class)).isNotNull();
        }
        assertThat(output).contains("handled o1");
    }

    static class Orders {
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order")
        void handle(String order) {
            System.out.println("handled " + order);
        }
    }

    /** An application that is started on another machine. */
    @EnableAutoConfiguration
    static class Abroad {
        @ExactlyOnceListener(
                id = "orders",
                queueNames = "${test.queue}",
                scope = "orders",
                key = "#order",
                parkFor = UnsupportedOperationException.class)
        void handle(String order) {
            if (order.equals("refused")) {
                throw new UnsupportedOperationException("the carrier is closed");
            }
        }

        /** The child's main method. */
        public static void main(String[] arguments) {
            SpringApplication.run(Abroad.class, arguments);
        }
    }

    /** Digits of these locales are not those of SQL: {@code "%d"} writes 42 as &#x0664;&#x0662; in Egypt. */
    @ParameterizedTest
    @ValueSource(strings = {"ar-EG", "tr-TR", "th-TH"})
    void applicationOfAnotherLocaleClaimsAndParks(String locale, @TempDir Path directory) throws Exception {
        String queue = SQS.createQueue(2);
        List.of("\u00f61", "refused").forEach(order -> SQS.send(queue, order));
        List<String> options = List.of(
                "-Duser.language=" + locale.substring(0, 2),
                "-Duser.country=" + locale.substring(3),
                "-Dfile.encoding=ISO-8859-1",
                "-cp",
                System.getProperty("java.class.path"));
        String[] arguments = TestApplication.arguments(
                database, Map.of("test.queue", queue, "spring.main.web-application-type", "none"));

        try (WorkerProcess worker = WorkerProcess.start(options, Abroad.class, directory, arguments)) {
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> !worker.isAlive() || statuses().equals(List.of("COMPLETED", "PARKED")));

            assertThat(worker.isAlive()).as(() -> log(directory)).isTrue();
            assertThat(jdbc.sql("SELECT key FROM exactly_once_claim")
                            .query(String.class)
                            .list())
                    .containsExactlyInAnyOrder("\u00f61", "refused");
        }
    }

    private List<String> statuses() {
        boolean isThere = jdbc.sql("SELECT to_regclass('exactly_once_claim') IS NOT NULL")
                .query(Boolean.class)
                .single();
        return isThere
                ? jdbc.sql("SELECT status FROM exactly_once_claim ORDER BY 1")
                        .query(String.class)
                        .list()
                : List.of();
    }

    private static String log(Path directory) {
        try {
            return Files.readString(directory.resolve("worker.log"));
        } catch (java.io.IOException lost) {
            throw new java.io.UncheckedIOException(lost);
        }
    }
}
