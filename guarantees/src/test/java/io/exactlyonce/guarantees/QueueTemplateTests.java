package io.exactlyonce.guarantees;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.AbstractConstruct;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/**
 * The CloudFormation template agrees with the pages in permissions, retention of messages, and alarms.
 * {@code .ci/newcomer/run} deploys it, on a server that creates no alarms.
 */
class QueueTemplateTests {

    private static final Path DOCS = Path.of("../docs");
    private static final Pattern ACTION = Pattern.compile("`(sqs:\\w+)`");
    private static final Pattern RUNBOOK = Pattern.compile("docs/monitoring\\.md#(\\S+)");
    private static final int DAY = 86_400;

    private final Map<?, ?> template = read();

    /** Reads short forms of functions, such as {@code !Ref}, as their arguments. */
    private static final class Functions extends SafeConstructor {

        Functions() {
            super(new LoaderOptions());
            yamlMultiConstructors.put("!", new AbstractConstruct() {
                @Override
                public Object construct(Node node) {
                    if (node instanceof ScalarNode text) {
                        return constructScalar(text);
                    }
                    return node instanceof SequenceNode list
                            ? constructSequence(list)
                            : constructMapping((MappingNode) node);
                }
            });
        }
    }

    private static Map<?, ?> read() {
        try {
            return new Yaml(new Functions()).load(page("observability/aws/queue.yaml"));
        } catch (IOException failure) {
            throw new java.io.UncheckedIOException(failure);
        }
    }

    private static String page(String name) throws IOException {
        return Files.readString(DOCS.resolve(name));
    }

    /** Returns a value of the template. */
    private Object at(Object... path) {
        Object value = template;
        for (Object name : path) {
            value = name instanceof Integer index ? ((List<?>) value).get(index) : ((Map<?, ?>) value).get(name);
            assertThat(value).as("%s of the template", name).isNotNull();
        }
        return value;
    }

    private int number(Object... path) {
        return Integer.parseInt(at(path).toString());
    }

    /** Returns a statement of the template, unwrapped from its condition if it has one. */
    private Map<?, ?> statement(String sid) {
        List<?> statements = (List<?>) at("Resources", "RolePolicy", "Properties", "PolicyDocument", "Statement");
        return statements.stream()
                .map(each -> each instanceof List<?> condition ? condition.get(1) : each)
                .map(each -> (Map<?, ?>) each)
                .filter(each -> sid.equals(each.get("Sid")))
                .findFirst()
                .orElseThrow();
    }

    private Set<String> actions(String sid) {
        Object actions = statement(sid).get("Action");
        return (actions instanceof List<?> list ? list : List.of(actions))
                .stream().map(Object::toString).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> actionsIn(String text) {
        return ACTION.matcher(text)
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String line(String text, String beginning) {
        return text.lines().filter(line -> line.contains(beginning)).findFirst().orElseThrow();
    }

    @Test
    void policyForTheListenerPermitsWhatReadmeNames() throws IOException {
        String readme = Files.readString(Path.of("../README.md"));

        assertThat(actions("Listener")).isEqualTo(actionsIn(line(readme, "The role needs ")));
        assertThat(statement("Listener").get("Resource")).isEqualTo("Queue.Arn");
    }

    @Test
    void policyForTheDeadLetterQueuePermitsWhatAuditAndEndpointNeed() throws IOException {
        String actuator = page("actuator.md");

        assertThat(actions("AuditOfDeadLetterQueue"))
                .isEqualTo(actionsIn(line(actuator, "never fails startup; allow ")));
        assertThat(actions("RedriveFromDeadLetterQueue")).containsAll(actionsIn(line(actuator, "\"redrive\"}`")));
        assertThat(statement("AuditOfDeadLetterQueue").get("Resource")).isEqualTo("DeadLetterQueue.Arn");
        assertThat(statement("RedriveFromDeadLetterQueue").get("Resource")).isEqualTo("DeadLetterQueue.Arn");
        assertThat(statement("RedriveToQueue").get("Resource")).isEqualTo("Queue.Arn");
    }

    @Test
    void retentionOfDeadLettersIsLongerAndClaimsOutliveBoth() throws IOException {
        int longest = number("Parameters", "RetentionSeconds", "MaxValue");
        int usual = number("Parameters", "RetentionSeconds", "Default");
        int deadLetters = number("Resources", "DeadLetterQueue", "Properties", "MessageRetentionPeriod");

        assertThat(deadLetters).isEqualTo(14 * DAY).isGreaterThan(longest);
        assertThat(page("postgresql.md")).contains("`exactly-once.claim.retention` (18 days)");
        assertThat(usual + deadLetters).isEqualTo(18 * DAY);
    }

    @Test
    void receivesBeforeTheDeadLetterQueueAreEnoughForTheAudit() {
        assertThat(number("Parameters", "MaxReceiveCount", "MinValue")).isEqualTo(5);
    }

    @Test
    void deletesAreComparedWithSendsByMetricMath() {
        assertThat(at("Resources", "DeletedExceedsSent", "Properties", "Threshold"))
                .isEqualTo(1.05);
        assertThat(at("Resources", "DeletedExceedsSent", "Properties", "Metrics", 0, "Expression"))
                .isEqualTo("IF(sent >= 100, deleted / sent, 1)");
        assertThat(at(
                        "Resources",
                        "DeletedExceedsSent",
                        "Properties",
                        "Metrics",
                        1,
                        "MetricStat",
                        "Metric",
                        "MetricName"))
                .isEqualTo("NumberOfMessagesDeleted");
        assertThat(at(
                        "Resources",
                        "DeletedExceedsSent",
                        "Properties",
                        "Metrics",
                        2,
                        "MetricStat",
                        "Metric",
                        "MetricName"))
                .isEqualTo("NumberOfMessagesSent");
    }

    @Test
    void alarmOnMessagesInFlightFiresWhereTheAuditWarns() {
        assertThat(number("Resources", "InFlight", "Properties", "Threshold")).isEqualTo(120_000 * 80 / 100);
    }

    @ParameterizedTest
    @ValueSource(strings = {"DeletedExceedsSent", "OldestMessage", "DeadLetters", "InFlight"})
    void descriptionOfAnAlarmLeadsToAParagraphOfTheRunbook(String alarm) throws IOException {
        MatchResult link = RUNBOOK.matcher(
                        at("Resources", alarm, "Properties", "AlarmDescription").toString())
                .results()
                .findFirst()
                .orElseThrow();

        assertThat(page("monitoring.md").lines())
                .anyMatch(line -> line.startsWith("### ")
                        && line.substring(4)
                                .toLowerCase(java.util.Locale.ROOT)
                                .replace(' ', '-')
                                .equals(link.group(1)));
    }
}
