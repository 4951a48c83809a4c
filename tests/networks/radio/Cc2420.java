import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import se.sics.mspsim.chip.CC2420;
import se.sics.mspsim.config.MSP430f1611Config;
import se.sics.mspsim.core.IOPort;
import se.sics.mspsim.core.MSP430;
import se.sics.mspsim.core.StateChangeListener;
import se.sics.mspsim.core.USARTListener;
import se.sics.mspsim.core.USARTSource;
import se.sics.mspsim.util.ComponentRegistry;

/** MSPSim's CC2420, which does what lines say as engine/devices/examples/cc2420.rs has them. */
public class Cc2420 {
  private static final int FIFO = 0, FIFOP = 1, SFD = 2, CCA = 3;
  private static final double BYTE_MS = 0.032;
  private static final boolean[] levels = new boolean[4];
  private static MSP430 core;
  private static CC2420 radio;

  private static class Pins extends IOPort {
    Pins() {
      super(core, 11, 0, core.memory, 0x10);
    }

    @Override
    public void setPinState(int pin, PinState state) {
      levels[pin] = state == PinState.HI;
    }
  }

  private static class Bus implements USARTSource {
    int answer;

    public void addUSARTListener(USARTListener listener) {}

    public void removeUSARTListener(USARTListener listener) {}

    public void addStateChangeListener(StateChangeListener listener) {}

    public void removeStateChangeListener(StateChangeListener listener) {}

    public boolean isReceiveFlagCleared() {
      return true;
    }

    public void byteReceived(int value) {
      answer = value & 0xff;
    }
  }

  private static final Bus bus = new Bus();

  private static void runUntil(double milliseconds) throws Exception {
    while (core.getTimeMillis() < milliseconds) {
      core.stepInstructions(1);
    }
  }

  private static int at(String hex, int place) {
    return Integer.parseInt(hex.substring(2 * place, 2 * place + 2), 16);
  }

  private static String exchange(String hex) {
    StringBuilder answer = new StringBuilder();
    radio.setChipSelect(true);
    for (int i = 0; i < hex.length() / 2; i++) {
      bus.answer = 0;
      radio.dataReceived(bus, at(hex, i));
      answer.append(String.format("%02x", bus.answer));
    }
    radio.setChipSelect(false);
    return answer.toString();
  }

  /** Delivers each byte at its end; preamble and delimiter come first. */
  private static void receive(String hex) throws Exception {
    String frame = "000000007a" + hex;
    double begin = core.getTimeMillis();
    for (int i = 0; i < frame.length() / 2; i++) {
      runUntil(begin + BYTE_MS * (i + 1));
      radio.receivedByte((byte) at(frame, i));
    }
  }

  public static void main(String[] arguments) throws Exception {
    PrintStream out = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    core = new MSP430(0, new ComponentRegistry(), new MSP430f1611Config());
    // A jump to itself at 0x4000, where the core begins.
    core.memory[0x4000] = 0xff;
    core.memory[0x4001] = 0x3f;
    core.memory[0xfffe] = 0x00;
    core.memory[0xffff] = 0x40;
    core.reset();
    radio = new CC2420(core);
    Pins pins = new Pins();
    radio.setFIFOPort(pins, FIFO);
    radio.setFIFOPPort(pins, FIFOP);
    radio.setSFDPort(pins, SFD);
    radio.setCCAPort(pins, CCA);
    core.stepInstructions(1000);
    radio.setRSSI(-95);
    radio.setLQI(110);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String value = line.substring(2);
      String answer = "";
      switch (line.charAt(0)) {
        case 'V' -> radio.setVRegOn(value.equals("1"));
        case 'X' -> answer = exchange(value);
        case 'T' -> runUntil(core.getTimeMillis() + Double.parseDouble(value) / 1000);
        default -> receive(value);
      }
      StringBuilder shown = new StringBuilder();
      for (boolean high : levels) {
        shown.append(high ? '1' : '0');
      }
      out.println(answer + "|" + shown + "|" + radio.getState().getFSMState());
      out.flush();
    }
  }
}
