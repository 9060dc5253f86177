package io.exactlyonce.sample;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.exactlyonce.sample.lab.LabSettings;
import io.exactlyonce.sample.lab.Store;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CommandTests {

    @Test
    void noArgumentsRunTheLabWithStandardSettings() {
        Command command = Command.parse();
        assertThat(command.action()).isEqualTo(Command.Action.LAB);
        assertThat(command.settings()).isEqualTo(LabSettings.standard());
    }

    @Test
    void numberOfOrdersCanBeChosen() {
        assertThat(Command.parse("--orders=30").settings().orders()).isEqualTo(30);
    }

    @Test
    void storeCanBeChosen() {
        LabSettings settings = Command.parse("--store=dynamodb", "--orders=30").settings();
        assertThat(settings.store()).isEqualTo(Store.DYNAMODB);
        assertThat(settings.orders()).isEqualTo(30);
    }

    @Test
    void storeThatIsNotThereIsNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Command.parse("--store=mysql"))
                .withMessage("--store (mysql) must be one of: postgresql, dynamodb");
    }

    @Test
    void workerPassesItsArgumentsToSpringBoot() {
        Command command = Command.parse("worker", "--spring.profiles.active=exactly-once,aws");
        assertThat(command.action()).isEqualTo(Command.Action.WORKER);
        assertThat(command.arguments()).containsExactly("--spring.profiles.active=exactly-once,aws");
    }

    @Test
    void paymentsPassTheirArgumentsToSpringBoot() {
        Command command = Command.parse("payments", "--server.port=8080");
        assertThat(command.action()).isEqualTo(Command.Action.PAYMENTS);
        assertThat(command.arguments()).containsExactly("--server.port=8080");
    }

    @Test
    void providerTakesItsPort() {
        Command command = Command.parse("provider", "9090");
        assertThat(command.action()).isEqualTo(Command.Action.PROVIDER);
        assertThat(command.arguments()).containsExactly("9090");
    }

    @Test
    void pageIsServedOnItsOwnPortOrAChosenOne() {
        assertThat(Command.parse("--serve").action()).isEqualTo(Command.Action.SERVE);
        assertThat(Command.parse("--serve").arguments()).containsExactly("8847");
        assertThat(Command.parse("--serve=9000").arguments()).containsExactly("9000");
    }

    @Test
    void pageTakesNoOtherArguments() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Command.parse("--orders=30", "--serve"))
                .withMessage("--serve (--orders=30 --serve) takes no other arguments");
    }

    @Test
    void helpIsNoRun() {
        assertThat(Command.parse("--help").action()).isEqualTo(Command.Action.HELP);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--order=30", "lab", "", "-v"})
    void unknownArgumentIsNamed(String argument) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Command.parse(argument))
                .withMessage("Unknown argument: " + argument);
    }

    @ParameterizedTest
    @ValueSource(strings = {"--orders=9", "--orders=2001", "--orders=many", "--orders=-1", "--orders="})
    void numberOfOrdersMustBeWithinItsBounds(String argument) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Command.parse(argument))
                .withMessageStartingWith("--orders (");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "http", "65536", "-1"})
    void providerRefusesWhatIsNoPort(String port) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Command.parse("provider", port))
                .withMessage("provider (%s) takes one argument, a port from 0 to 65535", port);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "http", "65536", "-1"})
    void pageRefusesWhatIsNoPort(String port) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Command.parse("--serve=" + port))
                .withMessage("--serve (%s) takes one argument, a port from 0 to 65535", port);
    }
}
