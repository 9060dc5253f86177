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

/**
 * Whether README's quick start is what it says: its dependency is ours, its listener and the test of it compile, the listener is accepted, and
 * each of its properties is known. {@code .ci/newcomer} runs it against servers.
 */
class QuickStartTests {

    private static final QuickStart QUICK_START = new QuickStart(read("../README.md"), QuickStart.HEADING);
    private static final QuickStart TESTING = new QuickStart(read("../README.md"), "Testing your listeners");

    @TempDir
    private Path classes;

    @Test
    void dependencyIsTheStarterOfThisVersion() throws Exception {
        Document dependency = xml(QUICK_START.blocks("xml").get(0));
        Document starter = xml(read("../starter/pom.xml"));

        assertThat(text(dependency, "artifactId")).isEqualTo("exactly-once-spring-boot-starter");
        assertThat(text(dependency, "groupId")).isEqualTo(text(starter, "groupId"));
        assertThat(text(dependency, "version")).isEqualTo(text(starter, "version"));
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
    void configurationIsBound() {
        application(QUICK_START.blocks("yaml").get(0)).run(context -> {
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
        application(QUICK_START.blocks("yaml").get(1)).run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getEnvironment().getProperty("spring.cloud.aws.endpoint"))
                    .isEqualTo("http://localhost:4566");
        });
    }

    @Test
    void allPropertiesAreKnown() {
        List<ConfigurationPropertyName> known = PropertyMetadata.names();

        assertThat(QUICK_START.blocks("yaml"))
                .hasSize(2)
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
                        return "package shop;\n" + source;
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
        try {
            return Files.readString(Path.of(file));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
