interface Appointment {
  readonly title: string;
  readonly start: string;
}

/** Keeps appointments. */
export class CalendarSkill {
  readonly #appointments: Appointment[] = [];

  /**
   * Add an appointment.
   * @param title Title (e.g., 'Dentist')
   * @param start When it starts
   * @returns Number of appointments
   * @example device.CalendarSkill.add("Dentist", "2030-01-31T09:00")
   */
  add(title: string, start: string): number {
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(start))
      throw new Error(`The start must have the form YYYY-MM-DDTHH:MM, not ${JSON.stringify(start)}`);
    if (start.endsWith(":00") && Number(start.slice(11, 13)) < 8)
      throw new Error("The calendar is closed before 08:00; the first free appointment is at 08:30");
    return this.#appointments.push({ title, start });
  }

  /**
   * List all appointments.
   * @returns The appointments in the order in which they were added
   * @readonly
   * @example device.CalendarSkill.list()
   */
  list(): Appointment[] {
    return [...this.#appointments];
  }
}
