package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import io.awspring.cloud.autoconfigure.core.AwsAutoConfiguration;
import io.awspring.cloud.autoconfigure.core.CredentialsProviderAutoConfiguration;
import io.awspring.cloud.autoconfigure.core.RegionProviderAutoConfiguration;
import io.awspring.cloud.autoconfigure.sqs.SqsAutoConfiguration;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.exactlyonce.autoconfigure.ExactlyOnceAutoConfiguration;
import io.exactlyonce.autoconfigure.ExactlyOnceProperties;
import io.exactlyonce.test.InMemoryClaimStore;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceProperties;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/**
 * The code in README and in the first tutorial is the example's. It compiles, its dependencies have this version, its
 * listener is accepted, and its properties exist. {@code .ci/newcomer} runs the example.
 */
class QuickStartTests {

    private static final String PACKAGE = "package shop;\n\n";
    private static final QuickStart QUICK_START = new QuickStart(read("../README.md"), "Quick start");
    private static final QuickStart APPLICATION = new QuickStart(read("../README.md"), "In your application");
    private static final QuickStart TESTING = new QuickStart(read("../README.md"), "Test your listeners");
    private static final QuickStart TUTORIAL = new QuickStart(read("../docs/first-listener.md"), "Run it");
    private static final Path EXAMPLE = Path.of("../quickstart/src");

    @TempDir
    private Path classes;

    @Test
    void dependencyIsTheStarterOfThisVersion() throws Exception {
        Document dependency = xml(APPLICATION.blocks("xml").get(0));
        Document starter = xml(read("../starter/pom.xml"));

        assertThat(text(dependency, "artifactId")).isEqualTo("exactly-once-spring-boot-starter");
        assertThat(text(dependency, "groupId")).isEqualTo(text(starter, "groupId"));
        assertThat(text(dependency, "version")).isEqualTo(text(starter, "version"));
        assertThat(APPLICATION.blocks("kotlin").get(0))
                .contains("io.exactlyonce:exactly-once-spring-boot-starter:" + text(starter, "version"));
    }

    @Test
    void exampleDependsOnThisVersion() throws Exception {
        String version = text(xml(read("../starter/pom.xml")), "version");
        NodeList dependencies = xml(read("../quickstart/pom.xml")).getElementsByTagName("dependency");

        assertThat(IntStream.range(0, dependencies.getLength())
                        .mapToObj(index -> dependencies
                                .item(index)
                                .getTextContent()
                                .strip()
                                .split("\\s+"))
                        .filter(dependency -> dependency[0].equals("io.exactlyonce")))
                .hasSize(3)
                .allSatisfy(dependency -> assertThat(dependency[2]).isEqualTo(version));
    }

    @Test
    void codeOfThePagesIsTheExamples() {
        String listener = read(EXAMPLE.resolve("main/java/shop/Fulfilment.java"));
        String servers = read(EXAMPLE.resolve("test/java/shop/TestShop.java"));
        String test = read(EXAMPLE.resolve("test/java/shop/FulfilmentTests.java"));

        assertThat(PACKAGE + QUICK_START.blocks("java").get(0)).isEqualTo(listener);
        assertThat(PACKAGE + TESTING.blocks("java").get(0)).isEqualTo(test);
        assertThat(TUTORIAL.blocks("java")).containsExactly(listener, servers);
        assertThat(TUTORIAL.blocks("shell"))
                .containsExactly(QUICK_START.blocks("shell").get(0));
    }

    @Test
    void listenerCompilesAndIsAccepted() throws Exception {
        compile("Fulfilment", QUICK_START.blocks("java").get(0));

        try (var loader = new URLClassLoader(
                new URL[] {classes.toUri().toURL()}, getClass().getClassLoader())) {
            new ApplicationContextRunner()
                    .withClassLoader(loader)
                    .withConfiguration(AutoConfigurations.of(
                            AwsAutoConfiguration.class,
                            CredentialsProviderAutoConfiguration.class,
                            RegionProviderAutoConfiguration.class,
                            JacksonAutoConfiguration.class,
                            SqsAutoConfiguration.class,
                            ExactlyOnceAutoConfiguration.class))
                    .withPropertyValues(
                            "spring.cloud.aws.region.static=eu-central-1",
                            "spring.cloud.aws.credentials.access-key=x",
                            "spring.cloud.aws.credentials.secret-key=x",
                            "spring.cloud.aws.sqs.listener.auto-startup=false")
                    .withBean(InMemoryClaimStore.class)
                    .withBean(loader.loadClass("shop.Fulfilment"))
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(context.getBean(MessageListenerContainerRegistry.class)
                                        .getContainerById("fulfilment"))
                                .isNotNull();
                    });
        }
    }

    @Test
    void testOfTheListenerCompiles() {
        compile("Fulfilment", QUICK_START.blocks("java").get(0));

        compile("FulfilmentTests", TESTING.blocks("java").get(0));
    }

    @Test
    void handlerThatWritesToTheDatabaseCompiles() {
        compile("Fulfilment", QUICK_START.blocks("java").get(0));

        String[] importsAndMethod = APPLICATION.blocks("java").get(0).split("\n\n", 2);
        compile("Bookings", """
                import io.exactlyonce.ExactlyOnceListener;
                %s
                class Bookings {

                    JdbcClient jdbc;

                %s}
                """.formatted((Object[]) importsAndMethod));
    }

    @Test
    void configurationIsBound() {
        application(APPLICATION.blocks("yaml").get(0)).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(ExactlyOnceProperties.class).claim().initializeSchema())
                    .isEqualTo(DatabaseInitializationMode.ALWAYS);
            assertThat(context.getBean(DataSourceProperties.class).getUrl()).startsWith("jdbc:postgresql://");
            assertThat(context.getBean(DataSourceProperties.class).getPassword())
                    .isEqualTo("secret");
        });
    }

    @Test
    void configurationForALaptopIsBound() {
        application(read(EXAMPLE.resolve("main/resources/application-local.yml")))
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getEnvironment().getProperty("spring.cloud.aws.endpoint"))
                            .isEqualTo("http://localhost:4566");
                });
    }

    @Test
    void allPropertiesAreKnown() {
        List<ConfigurationPropertyName> known = PropertyMetadata.names();

        assertThat(APPLICATION.blocks("yaml")).hasSize(1);
        assertThat(List.of(
                        APPLICATION.blocks("yaml").get(0),
                        read(EXAMPLE.resolve("main/resources/application.yml")),
                        read(EXAMPLE.resolve("main/resources/application-local.yml"))))
                .allSatisfy(block -> assertThat(names(block))
                        .isNotEmpty()
                        .allSatisfy(name -> assertThat(known).contains(ConfigurationPropertyName.of(name))));
    }

    private static ApplicationContextRunner application(String yaml) {
        return new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(DataSourceAutoConfiguration.class, ExactlyOnceAutoConfiguration.class))
                .withPropertyValues("DB_PASSWORD=secret")
                .withInitializer(
                        context -> context.getEnvironment().getPropertySources().addLast(properties(yaml)));
    }

    private static Stream<String> names(String yaml) {
        return Arrays.stream(((EnumerablePropertySource<?>) properties(yaml)).getPropertyNames());
    }

    private static PropertySource<?> properties(String yaml) {
        try {
            return new YamlPropertySourceLoader()
                    .load("application.yml", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))
                    .get(0);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private void compile(String name, String source) {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        JavaFileObject file =
                new SimpleJavaFileObject(URI.create("string:///shop/" + name + ".java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return PACKAGE + source;
                    }
                };
        StringWriter complaints = new StringWriter();
        boolean compiled = compiler.getTask(
                        complaints,
                        null,
                        null,
                        List.of(
                                "-parameters",
                                "-proc:none",
                                "-cp",
                                System.getProperty("java.class.path") + File.pathSeparator + classes,
                                "-d",
                                classes.toString()),
                        null,
                        List.of(file))
                .call();
        assertThat(compiled).as(complaints.toString()).isTrue();
    }

    private static Document xml(String text) throws Exception {
        return DocumentBuilderFactory.newInstance()
                .newDocumentBuilder()
                .parse(new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)).getInputStream());
    }

    private static String text(Document document, String element) {
        return document.getElementsByTagName(element).item(0).getTextContent();
    }

    private static String read(String file) {
        return read(Path.of(file));
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
