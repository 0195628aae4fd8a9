/* src/report/page/ as one text, put there by the build. */
#ifndef REPORT_PAGE_H_
#define REPORT_PAGE_H_

extern const char sw_report_page[];

#endif
