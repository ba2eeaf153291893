import { setTimeout } from "node:timers/promises";

const CELSIUS: Readonly<Record<string, number>> = {
  Bergen: 9,
  Cairo: 34,
  Lisbon: 24,
  Nairobi: 26,
  Osaka: 28,
  Quito: 17,
};

/** The time that a station takes to answer, in milliseconds. */
const DELAY_MS = 100;

/** Tells the weather. */
export class WeatherSkill {
  /**
   * Read the temperature of a city; takes a moment.
   * @param city Bergen, Cairo, Lisbon, Nairobi, Osaka or Quito
   * @returns The temperature in degrees Celsius
   * @readonly
   * @example device.WeatherSkill.readTemperature("Quito")
   */
  async readTemperature(city: string): Promise<number> {
    await setTimeout(DELAY_MS);
    const celsius = CELSIUS[city];
    if (celsius === undefined) throw new Error(`No station in ${city}; there are ${Object.keys(CELSIUS).join(", ")}`);
    return celsius;
  }
}
