package io.exactlyonce.benchmarks.worker;

import com.sun.management.OperatingSystemMXBean;
import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.exactlyonce.benchmarks.process.Conversation;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;

/** An application with one listener, which works only on request. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({Tally.class, Work.class, SqsTraffic.class, HeldWork.class, Holding.class, Unobserved.class, DynamoDbCosts.class
})
public class Worker {

    private static final long LONGEST_SECONDS = 180;

    private final MessageListenerContainerRegistry containers;
    private final Tally tally;
    private final SqsTraffic traffic;
    private final Holding holding;
    private final DynamoDbCosts costs;
    private final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    Worker(
            MessageListenerContainerRegistry containers,
            Tally tally,
            SqsTraffic traffic,
            Holding holding,
            DynamoDbCosts costs) {
        this.containers = containers;
        this.tally = tally;
        this.traffic = traffic;
        this.holding = holding;
        this.costs = costs;
    }

    /**
     * Runs until the benchmarks end.
     *
     * @param arguments the name of a {@link Protection}, and then Spring Boot's arguments
     */
    public static void run(String[] arguments) throws Exception {
        Protection protection = Protection.valueOf(arguments[0]);
        SpringApplication application = new SpringApplicationBuilder(Worker.class, protection.listener()).build();
        if (!protection.isOurs()) {
            application.setDefaultProperties(Map.of("spring.autoconfigure.exclude", starter()));
        }
        try (ConfigurableApplicationContext context = application.run(arguments)) {
            Worker worker = context.getBean(Worker.class);
            worker.prepare(context.getEnvironment());
            Conversation.say(ManagementFactory.getRuntimeMXBean().getUptime());
            Conversation.answer(Task.class, worker::answer);
        }
    }

    /** Returns the auto-configurations to exclude for contestants that are not ours. */
    private static String starter() {
        return ImportCandidates.load(AutoConfiguration.class, Worker.class.getClassLoader()).getCandidates().stream()
                .filter(name -> name.startsWith("io.exactlyonce."))
                .collect(Collectors.joining(","));
    }

    private void prepare(Environment environment) {
        ContainerOptions options = ContainerOptions.of(environment);
        for (MessageListenerContainer<?> container : containers.getListenerContainers()) {
            options.configure((SqsMessageListenerContainer<?>) container);
        }
    }

    private Object answer(Task task) throws Exception {
        return task.drain() != null ? drain(task.drain()) : holding.of(Objects.requireNonNull(task.hold()));
    }

    private Drain.Result drain(Drain drain) throws InterruptedException {
        long processor = system.getProcessCpuTime();
        Duration compiler = CompilerThreads.processorTime();
        tally.begin(drain.orders());
        traffic.begin(drain.messages());
        costs.begin();
        Allocations allocations = new Allocations();
        containers.getListenerContainers().forEach(MessageListenerContainer::start);
        traffic.await(LONGEST_SECONDS);
        double processorMicros = (system.getProcessCpuTime() - processor) / 1e3 / drain.messages();
        double compilerMicros = CompilerThreads.processorTime().minus(compiler).toNanos() / 1e3 / drain.messages();
        double allocatedBytes = allocations.bytes() / (double) drain.messages();
        containers.getListenerContainers().forEach(MessageListenerContainer::stop);
        return new Drain.Result(
                traffic.rate(),
                tally.duplicates(),
                tally.losses(),
                drain.messages() - traffic.deleted(),
                traffic.timeInHand().micros(0.5),
                traffic.timeInHand().micros(0.99),
                processorMicros,
                compilerMicros,
                allocatedBytes,
                costs.requests() / (double) drain.messages(),
                costs.writes() / (double) drain.messages());
    }
}
