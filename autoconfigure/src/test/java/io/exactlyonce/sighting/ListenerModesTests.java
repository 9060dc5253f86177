package io.exactlyonce.sighting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.Mode;
import org.junit.jupiter.api.Test;
import org.springframework.mock.env.MockEnvironment;

class ListenerModesTests {

    private final ListenerModes modes =
            new ListenerModes(new MockEnvironment().withProperty("orders.mode", "Enforce"), Mode.OBSERVE);

    @Test
    void attributeWinsOverThePropertyForAll() {
        assertThat(modes.of("")).isEqualTo(Mode.OBSERVE);
        assertThat(modes.of("enforce")).isEqualTo(Mode.ENFORCE);
        assertThat(modes.of(" OBSERVE ")).isEqualTo(Mode.OBSERVE);
        assertThat(modes.of("${orders.mode}")).isEqualTo(Mode.ENFORCE);
        assertThat(modes.of("${shipping.mode:}")).isEqualTo(Mode.OBSERVE);
    }

    @Test
    void unknownModeIsRefusedWithThoseThatThereAre() {
        assertThatThrownBy(() -> modes.of("off"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("mode = 'off' is none of 'enforce' and 'observe'");
    }
}
