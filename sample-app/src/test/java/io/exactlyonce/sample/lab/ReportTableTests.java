package io.exactlyonce.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReportTableTests {

    private final List<String> table = ReportTable.of(Sides.withDuplicates(2), Sides.flawless());

    @Test
    void bothSidesStandInOneRow() {
        assertThat(table).anySatisfy(row -> assertThat(row).matches(" +naive +exactly-once"));
        assertThat(table).anySatisfy(row -> assertThat(row).matches(" +duplicate charges +2 +0"));
        assertThat(table).anySatisfy(row -> assertThat(row).matches(" +orders charged more than once +1 +0"));
        assertThat(ReportTable.of(Sides.withShipmentsOfFirstOrder(3), Sides.flawless()))
                .anySatisfy(row -> assertThat(row).matches(" +orders shipped more than once +1 +0"));
        assertThat(table)
                .anySatisfy(row -> assertThat(row).matches(" +handler p95 / visibility timeout +300 % +300 %"));
    }

    @Test
    void columnsAreAligned() {
        assertThat(table)
                .filteredOn(row -> !row.contains("---"))
                .allSatisfy(row -> assertThat(row).hasSize(table.get(0).length()));
    }
}
